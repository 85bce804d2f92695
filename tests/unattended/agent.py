"""A stand-in agent: a real program that does what a plan says, call by call.

    python -IS agent.py NAME plain|claude [PROMPT_FILE]

It works in the current directory, the project. Its plan and its notes are outside of the project, in `../outside`:
the plan (plan.json) has for each task the calls that are made for it, and each call is a list of operations, the
functions below. The last call of a list is repeated. `claude` prints the stream that Claude Code prints.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

OUTSIDE = Path("..", "outside").resolve()
NAME, STREAM = sys.argv[1], sys.argv[2]
TASK = os.environ.get("SAMUEL_TASK_ID", "")


# Its own notes


def count_call(overlap: bool) -> int:
    """Note this call; returns how many calls there were for this agent's plan before it."""
    with (OUTSIDE / "calls.jsonl").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        earlier = [json.loads(line) for line in file]
        entry = {
            "number": len(earlier) + 1,
            "agent": NAME,
            "task": TASK,
            "attempt": os.environ.get("SAMUEL_ATTEMPT", ""),
            "run": os.environ.get("SAMUEL_RUN_ID", ""),
            "pid": os.getpid(),
            "overlap": overlap,
        }
        file.write(json.dumps(entry) + "\n")
    number = f"{entry['number']:03}"
    prompt = Path(sys.argv[3]).read_text() if len(sys.argv) > 3 else sys.stdin.read()
    (OUTSIDE / "prompts" / f"{number}.md").write_text(prompt)
    if (OUTSIDE / "take-snapshots").exists():
        snapshot(OUTSIDE / "snapshots" / number)
    return sum(call["task"] == TASK and call["agent"] == NAME for call in earlier)


def snapshot(target: Path) -> None:
    """Copy the project as it is when an agent starts, with its task file."""
    shutil.copytree(".", target, ignore=shutil.ignore_patterns(".git", ".samuel", "__pycache__"))
    (target / ".samuel/run").mkdir(parents=True)
    shutil.copy(".samuel/run/prd.toon", target / ".samuel/run/prd.toon")


def operations(number: int) -> list[list[Any]]:
    plan = json.loads((OUTSIDE / "plan.json").read_text())
    calls = plan.get(f"{NAME}:{TASK}") or plan.get(TASK) or plan.get("*") or [[["solve"], ["claim"]]]
    return list(calls[min(number, len(calls) - 1)])


# The operations: work


def write(path: str, text: str) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def append(path: str, text: str) -> None:
    with Path(path).open("a") as file:
        file.write(text)


def delete(path: str) -> None:
    Path(path).unlink()


def replace(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    Path(path).write_text(text.replace(old, new))


def solve(task: str = "", variant: str = "solutions") -> None:
    """Copy the solution of a task into the project."""
    shutil.copytree(OUTSIDE / variant / (task or TASK), ".", dirs_exist_ok=True)


def half(task: str = "") -> None:
    """Copy the wrong solution of a task into the project."""
    solve(task, "halves")


def break_file(path: str) -> None:
    """Replace a file by broken code; `mend` brings back what it was."""
    shutil.copy(path, OUTSIDE / "broken")
    Path(path).write_text("raise RuntimeError('broken')\n")


def mend(path: str) -> None:
    shutil.copy(OUTSIDE / "broken", path)


def run(*command: str) -> None:
    """Run a command as the agent's tool would, and note what came of it."""
    if command[0] == "samuel" and (OUTSIDE / "samuel").exists():
        command = (str(OUTSIDE / "samuel"), *command[1:])  # the same one, which starts in less time
    done = subprocess.run(command, capture_output=True, text=True)
    with (OUTSIDE / "commands.jsonl").open("a") as file:
        entry = {"command": command, "code": done.returncode, "out": done.stdout, "err": done.stderr}
        file.write(json.dumps(entry) + "\n")


def claim(*tasks: str) -> None:
    for task in tasks or (TASK,):
        run("samuel", "run", "done", task)


def forge(old: str, new: str) -> None:
    """Edit the task file by hand."""
    replace(".samuel/run/prd.toon", old, new)


# The operations: words


def say(text: str) -> None:
    print(text, flush=True)


def error(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def stream(message: dict[str, Any]) -> None:
    say(json.dumps(message))


def text(words: str) -> None:
    """Say something as claude does."""
    stream({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": words}]}})


def spend(input_tokens: int, output_tokens: int, id: str = "") -> None:
    """Report the usage of one message of the model, as claude does while it works."""
    message = {
        "id": id or f"msg_{time.monotonic_ns()}",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "working"}],
        "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens},
    }
    stream({"type": "assistant", "message": message, "session_id": "s"})


def result(text: str = "done", is_error: bool = False, input_tokens: int = 100, output_tokens: int = 50) -> None:
    stream(
        {
            "type": "result",
            "subtype": "success",
            "is_error": is_error,
            "result": text,
            "session_id": "s",
            "num_turns": 1,
            "total_cost_usd": 0.0 if is_error else 0.01,
            "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens},
        }
    )


def fail(text: str) -> NoReturn:
    """End as claude ends when its service refuses: an error as the result, and exit code 1."""
    if STREAM == "claude":
        result(text, is_error=True, input_tokens=0, output_tokens=0)
    else:
        error(text)
    sys.exit(1)


def limit(seconds: float, unit: int = 1) -> NoReturn:
    """Reach the usage limit, which ends in so many seconds; every call until then gets the same answer.

    `unit` is how many of the numbers in `resetsAt` are a second: 1, or 1000 where it is in milliseconds.
    """
    until = time.time() + seconds
    (OUTSIDE / f"limit-{NAME}.json").write_text(json.dumps([until, unit]))
    refuse_until(until, unit)


def refuse_until(until: float, unit: int) -> NoReturn:
    info = {"status": "rejected", "resetsAt": int(until * unit + 0.999), "rateLimitType": "five_hour"}
    if STREAM == "claude":
        stream({"type": "rate_limit_event", "rate_limit_info": info, "session_id": "s"})
    fail(f"Claude AI usage limit reached|{int(until + 0.999)}")


def refuse_at_limit() -> None:
    file = OUTSIDE / f"limit-{NAME}.json"
    if not file.exists():
        return
    until, unit = json.loads(file.read_text())
    if time.time() < until:
        mark("called-before-the-reset")
        refuse_until(until, unit)


# The operations: time, signals, endings


def mark(name: str) -> None:
    """Show the test where this agent is."""
    (OUTSIDE / "marks" / name).touch()


def wait(name: str) -> None:
    """Wait for the test; a minute at most, so that nothing stays behind."""
    deadline = time.monotonic() + 60
    while not (OUTSIDE / "marks" / name).exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def burn(seconds: float) -> None:
    """Have a child work in silence, as a compiler does."""
    subprocess.run([sys.executable, "-IS", "-c", f"import time\nwhile time.process_time() < {seconds}: pass"])


def interrupt() -> None:
    """Ctrl-C, for the loop only."""
    os.kill(int((OUTSIDE / "loop.pid").read_text()), signal.SIGINT)


def abort() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    sys.exit(137)


def main() -> None:
    lock = (OUTSIDE / "agent.lock").open("w")  # held until this process ends
    overlap = False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        overlap = True
    number = count_call(overlap)
    if STREAM == "claude":
        stream({"type": "system", "subtype": "init", "session_id": "s", "model": "claude-sonnet-4-5", "tools": []})
    refuse_at_limit()
    table = {**globals(), "break": break_file, "exit": sys.exit}
    for name, *arguments in operations(number):
        table[name](*arguments)
    if STREAM == "claude":
        result()


main()
