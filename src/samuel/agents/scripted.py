"""The shipped fake agent: it does what a directory of steps says, as a process like any other agent.

    python -m samuel.agents.scripted DIR [PROMPT_FILE]

For task T and attempt N it takes the first of DIR/T/N, DIR/T.N, DIR/T, DIR/default that is there (a directory of
numbered attempts goes on with its highest number); in discovery DIR/discovery/N or DIR/discovery; for the
acceptance tests of a task DIR/acceptance/N or DIR/acceptance; for a review DIR/review/N or DIR/review; for a
recipe DIR/recipe or DIR/default; for an ability DIR/<its id> or DIR/default. A step is an executable, or a
directory of files to copy into the project with, if need be, a `run.sh` to run after that. It gets the prompt on
its stdin, calls `samuel run done ID` itself, and its exit code is the agent's. A `usage.json` in the step's
directory, or else in DIR, is reported as tokens and cost.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from samuel.base.printable import shell_word

_WITHOUT_DEFAULT = ("discovery", "acceptance", "review")
_APART = ("run.sh", "usage.json")  # of a step's directory: not for the project


def main(arguments: list[str], environ: Mapping[str, str]) -> int:
    if len(arguments) not in (1, 2):
        print("usage: python -m samuel.agents.scripted DIR [PROMPT_FILE]", file=sys.stderr)
        return 2
    steps = Path(arguments[0]).absolute()
    prompt = Path(arguments[1]).read_bytes() if arguments[1:] else sys.stdin.buffer.read()
    doing, name = _work_and_step(environ)
    step = find(steps, name, environ.get("SAMUEL_ATTEMPT", "1"), default=name not in _WITHOUT_DEFAULT)
    if step is None:
        print(f"`{steps}` has no step for {doing}", file=sys.stderr)
        return 2
    _say(f"{doing}: a prompt of {len(prompt)} bytes, step {step.relative_to(steps)}")
    code = _do(step, prompt)
    _say("done" if code == 0 else f"failed with exit code {code}")
    _report(step / "usage.json" if step.is_dir() else steps / "usage.json", steps / "usage.json")
    return code


def _work_and_step(environ: Mapping[str, str]) -> tuple[str, str]:
    """What it is to do, in words, and the name of the step. An ability may be called within all else."""
    if ability := environ.get("SAMUEL_ABILITY_ID"):
        return f"ability {ability}", ability
    if environ.get("SAMUEL_MODE") == "discovery":
        return "discovery", "discovery"
    if environ.get("SAMUEL_MODE") == "acceptance":
        return f"acceptance tests of task {environ.get('SAMUEL_TASK_ID', '')}", "acceptance"
    if environ.get("SAMUEL_MODE") == "review":
        return f"review of task {environ.get('SAMUEL_TASK_ID', '')}", "review"
    if recipe := environ.get("SAMUEL_RECIPE"):
        return f"recipe {recipe}", "recipe"
    task = environ.get("SAMUEL_TASK_ID", "")
    return f"task {task}, attempt {environ.get('SAMUEL_ATTEMPT', '1')}", task


def find(steps: Path, name: str, attempt: str, *, default: bool = True) -> Path | None:
    if not name or "/" in name or name in (".", ".."):
        return None
    whole = steps / name
    exact = [whole / attempt, steps / f"{name}.{attempt}"] if default else [whole / attempt]
    candidates = [*exact, _latest(whole, attempt) or whole, *([steps / "default"] if default else ())]
    return next((path for path in candidates if path.exists()), None)


def _latest(directory: Path, attempt: str) -> Path | None:
    """Of numbered attempts the last one up to this; None when the directory holds files instead."""
    if not directory.is_dir():
        return None
    numbers = sorted(int(entry.name) for entry in directory.iterdir() if entry.name.isdecimal())
    so_far = [number for number in numbers if number <= int(attempt)] or numbers[:1]
    return directory / str(so_far[-1]) if so_far else None


def _do(step: Path, prompt: bytes) -> int:
    if not step.is_dir():
        return _run([str(step)], prompt)
    for source in sorted(step.rglob("*")):
        target = source.relative_to(step)
        if source.is_dir() or str(target) in _APART:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        _say(f"wrote {target}")
    script = step / "run.sh"
    return _run(["/bin/sh", str(script)], prompt) if script.is_file() else 0


def _run(argv: list[str], prompt: bytes) -> int:
    _say(f"running {os.path.basename(argv[-1])}")
    # This is a program of its own, not a part of Samuel's process; its parent ends its whole process tree.
    try:
        code = subprocess.run(argv, input=prompt, check=False).returncode
    except OSError as error:
        hint = f"; `chmod +x {shell_word(argv[0])}`" if isinstance(error, PermissionError) else ""
        print(f"`{argv[0]}` cannot be run: {error.strerror}{hint}", file=sys.stderr)
        return 126
    return code if code >= 0 else 128 - code


def _report(*files: Path) -> None:
    """As claude's stream does: one line of JSON at the end."""
    for file in files:
        if file.is_file():
            usage = json.loads(file.read_bytes())
            result = {"type": "result", "total_cost_usd": usage.pop("cost_usd", 0), "usage": usage}
            print(json.dumps(result), flush=True)
            return


def _say(text: str) -> None:
    print(f"[scripted] {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
