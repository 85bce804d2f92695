"""One call of a hook by an agent: `samuel emit` with and without a server, beside the bare start of a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from bench_projects import executable, project
from measure import Row, Times, at_most, below, beside, take_turns

GUARD = """\
import samuel


@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    if "rm -rf" in str(event.tool_input):
        return {"decision": "deny", "reason": "not here"}
"""
SCRIPT = """\
#!/bin/sh
[ "$1" = hook ] && { echo PreAbilityCall; exit; }
grep -q 'rm -rf' && { echo '{"decision": "deny", "reason": "not here"}'; exit; }
echo '{}'
"""
CALL = json.dumps({"ability_id": "shell", "tool_input": {"command": "ls"}}).encode()
OF_CLAUDE = json.dumps(
    {
        "session_id": "s1",
        "hook_event_name": "PreToolUse",
        "cwd": "/",
        "tool_name": "Bash",
        "tool_input": {"command": "ls", "description": "list"},
        "tool_use_id": "toolu_1",
    }
).encode()
PROMPT = json.dumps({"user_message": "hello"}).encode()
AT_ONCE = 64

PROGRAMS = Path(sys.executable).parent
SAMUEL, NATIVE = PROGRAMS / "samuel", PROGRAMS / "samuel-emit"


def run(scratch: Path) -> Iterator[Row]:
    thin = executable(
        scratch / "thin", f"#!{sys.executable}\nfrom samuel.__main__ import emit\nraise SystemExit(emit())\n"
    )
    true = command("/bin/true")
    python = command(sys.executable, "-c", "pass")
    with guarded_project(scratch) as root:
        os.environ.pop("SAMUEL_SERVE", None)
        native = command(NATIVE, "PreAbilityCall", directory=root)
        in_python = command(thin, "PreAbilityCall", directory=root)
        for_claude = command(NATIVE, "--as", "claude", "PreToolUse", directory=root, stdin=OF_CLAUDE)
        serve(native, root)
        serve(in_python, root)
        # Apart from the Python programs: what comes right after one of them finds none of its own in the caches.
        warm, claude, bare = take_turns(native, for_claude, true, rounds=200)
        yield at_most("a warm samuel-emit with a Python guard, vs /bin/true", warm, bare, 1.5)
        yield below("the same, p95 by itself", Times(warm.p95, warm.p95), 2.5e-3)
        yield beside("the same for Claude Code's PreToolUse, in its session", claude, bare)
        after_another, bare_after_another = take_turns(native, true, rounds=100, before=python)
        yield beside("the same, both right after a Python program", after_another, bare_after_another)
        slim, interpreter = take_turns(in_python, python, rounds=200)
        yield at_most("the same by the client in Python, vs python -c pass", slim, interpreter, 1.7)
        together, alone = take_turns(lambda: at_once(native), native, rounds=10)
        ideal = Times(*(AT_ONCE * seconds / (os.cpu_count() or 1) for seconds in alone))
        yield at_most(f"{AT_ONCE} at once, vs the same shared out evenly", together, ideal, 2)

        os.environ["SAMUEL_SERVE"] = "off"
        cold = command(SAMUEL, "emit", "PreAbilityCall", directory=root)
        nobody = command(SAMUEL, "emit", "UserPromptSubmit", directory=root, stdin=PROMPT)
        cold_times, nobody_times, interpreter = take_turns(cold, nobody, python, rounds=40)
        yield at_most(
            "samuel emit without a server, with a Python guard, vs python -c pass", cold_times, interpreter, 8
        )
        yield beside("the same with nobody listening", nobody_times, interpreter)
        subprocess.run([SAMUEL, "serve", "stop"], cwd=root, capture_output=True, check=True)
        cold_script = command(SAMUEL, "emit", "PreAbilityCall", directory=script_project(root))
        script_times, interpreter = take_turns(cold_script, python, rounds=40)
        yield at_most("the same with a script as the guard", script_times, interpreter, 8)


@contextmanager
def guarded_project(scratch: Path) -> Iterator[Path]:
    """A project with one trusted guard in Python, and a runtime directory of its own."""
    runtime = scratch / "runtime"
    runtime.mkdir(mode=0o700)
    with project(scratch) as root:
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
        (root / ".samuel" / "hooks" / "guard.py").write_text(GUARD)
        subprocess.run([SAMUEL, "trust", "--yes"], cwd=root, check=True, capture_output=True)
        yield root


def script_project(root: Path) -> Path:
    """The project with a guard in shell in the place of the one in Python."""
    hooks = root / ".samuel" / "hooks"
    (hooks / "guard.py").unlink()
    executable(hooks / "guard", SCRIPT)
    subprocess.run([SAMUEL, "trust", "--yes"], cwd=root, check=True, capture_output=True)
    return root


def command(
    program: Path | str, *words: str, directory: Path | None = None, stdin: bytes = CALL
) -> Callable[[], None]:
    def start() -> None:
        subprocess.run([program, *words], cwd=directory, input=stdin, capture_output=True, check=True)

    return start


def serve(call: Callable[[], None], root: Path) -> None:
    """Call until a server answers."""
    for _ in range(100):
        call()
        done = subprocess.run([SAMUEL, "serve", "status", "--json"], cwd=root, capture_output=True, check=True)
        if any(server["calls"] for server in json.loads(done.stdout)["data"]):
            return
        time.sleep(0.1)
    raise RuntimeError("no server answers")


def at_once(call: Callable[[], None]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda _: call(), range(AT_ONCE)))
