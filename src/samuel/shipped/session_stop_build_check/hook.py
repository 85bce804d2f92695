"""SessionStop: builds the files that were changed, and reports where a build fails."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UnsetType

from samuel.config.duration import format_duration
from samuel.events import SessionStop
from samuel.process import spawn
from samuel.process.output import last_line
from samuel.shipped.event_fields import config_of, one_line
from samuel.shipped.session_stop_build_check.rules import Builds, BuildStep, build_steps

MARGIN = 1.0  # seconds to answer before the deadline
OUTPUT_LIMIT = 256 * 1024 * 1024
OUTPUT_TAIL = 1024 * 1024  # bytes at the end of the output that are searched
# Only from the beginning of a word, so that no line takes quadratic time.
_PATH = r"(?<![\w./@+-])(?P<path>[\w./@+-]+\.\w+)"
# src/login.ts(58,12): error TS2322: …        src/login.ts:58:12 - error …
# File "billing/tax.py", line 7, in rate      --> src/main.rs:3:5
_FORMATS = (  # the first is Python's, of tracebacks
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)'),
    re.compile(rf"{_PATH}\((?P<line>\d+)(?:[,:]\d+)?\)"),
    re.compile(rf"{_PATH}:(?P<line>\d+)\b(?::\d+\b)?"),
)
_ERROR_WORD = re.compile(r"error|fail|exception|assert|fatal|panic", re.IGNORECASE)
MAX_LINE = 500  # characters of one line that are searched
MAX_LINES = 20_000
MAX_TRACEBACK = 200  # lines of a traceback that are searched for its end


class BuildResult(NamedTuple):
    step: BuildStep
    failure: str = ""  # how it failed; "" is success
    message: str = ""  # the line of its output that explains the failure best
    place: FailingLine | None = None


def hook(event: SessionStop) -> dict[str, Any]:
    root = Path(event.project_root)
    changed_files = [] if isinstance(event.changed_files, UnsetType) else event.changed_files
    changed = [os.path.relpath(root / path, root) for path in changed_files]
    steps = build_steps(config_of(event, Builds), changed)
    if not steps or event.dry_run:
        commands = ", ".join(f"`{step.command_line}`" for step in steps)
        message = f"would run {commands}" if steps else "no rule in `builds` matches the changed files"
        return {"logs": [{"level": "info", "message": message}]}
    until = time.monotonic() + event.deadline_ms / 1000 - MARGIN if event.deadline_ms else None
    results = [_build(step, root, changed, until) for step in steps]
    failed = [result for result in results if result.failure]
    places = dict.fromkeys(result.place for result in failed if result.place)
    opened = [{"kind": "open_file", "payload": {"path": place.path, "line": place.line}} for place in places]
    return {
        "messages_to_user": [
            f"Ran {' and '.join(f'`{step.command_line}`' for step in steps)} for what was changed.",
            *map(_summary, results),
            *(["Recommend fixing this before merging."] if failed else []),
        ],
        **({"follow_up_actions": opened} if opened else {}),
    }


def _build(step: BuildStep, root: Path, changed: list[str], until: float | None) -> BuildResult:
    time_left = None if until is None else until - time.monotonic()
    if time_left is not None and time_left <= 0:
        return BuildResult(step, "was not run: there is no time left; raise `timeout` in the hook's file")
    limit = min((seconds for seconds in (time_left, step.timeout) if seconds is not None), default=None)
    process = spawn.run(
        step.words,
        cwd=str(root / step.directory),
        env=os.environ,
        timeout=limit,
        output_limit=OUTPUT_LIMIT,
        keep=OUTPUT_TAIL,
    )
    if process.ended == "not_started":
        return BuildResult(step, f"could not be started: {process.why}")
    output = (process.stdout + b"\n" + process.stderr).decode("utf-8", "replace")
    if process.ended == "exited" and process.returncode == 0:
        return BuildResult(step)
    failure = f"failed with exit code {process.returncode}"
    if process.ended == "timed_out" and limit is not None:
        failure = f"was ended after {format_duration(round(limit, 1))}"
    elif process.ended == "too_much_output":
        failure = f"was ended: more than {OUTPUT_LIMIT // 1024**2} MiB of output"
    elif process.returncode < 0:
        failure = f"was ended by signal {-process.returncode}"
    place = failing_place(output, root, step.directory, changed)
    return BuildResult(step, failure, place.message if place else one_line(last_line(output, ""), 200), place)


def _summary(result: BuildResult) -> str:
    command = f"`{result.step.command_line}`"
    if not result.failure:
        return f"{command}: success."
    where = f" at {result.place.path}:{result.place.line}" if result.place else ""
    return f"{command} {result.failure}{where}" + (f": {result.message}" if result.message else ".")


class FailingLine(NamedTuple):
    path: str
    """Relative to the project's root."""
    line: int
    message: str = ""
    """What the output says about it."""


def failing_place(output: str, root: Path, directory: str, changed: Sequence[str] = ()) -> FailingLine | None:
    """The most likely cause: a place in a file that was changed, on a line with a word like "error".

    `directory` is where the build ran. Of equals the first; of a traceback the last, which is the innermost.
    """
    best: tuple[tuple[bool, bool], FailingLine] | None = None
    for place, has_error_word, in_traceback in _places(output, root, directory):
        rank = (place.path in changed, has_error_word)
        if best is None or rank > best[0] or (in_traceback and rank == best[0]):
            best = (rank, place)
    return best[1] if best else None


def _places(output: str, root: Path, directory: str) -> Iterator[tuple[FailingLine, bool, bool]]:
    """Every place in the output that is a file of the project; has it an error word; is it of a traceback."""
    inner_paths: dict[str, str] = {}
    lines = output.splitlines()[-MAX_LINES:]
    for number, text in enumerate(lines):
        for format_number, pattern in enumerate(_FORMATS):
            if (match := pattern.search(text[:MAX_LINE])) is None:
                continue
            name = match["path"]
            if name not in inner_paths:
                inner_paths[name] = _inside(name, root, directory)
            if inner_paths[name]:
                in_traceback = format_number == 0
                rest = text[match.end() :].strip(" :-,)")
                message = _raised(lines[number + 1 : number + MAX_TRACEBACK]) if in_traceback else rest
                yield (
                    FailingLine(inner_paths[name], int(match["line"][:9]), one_line(message, 200)),
                    bool(_ERROR_WORD.search(text)),
                    in_traceback,
                )
                break


def _raised(lines: Sequence[str]) -> str:
    """The end of a traceback: its first line that is not indented."""
    return next((line for line in lines if line and not line[0].isspace()), "")


def _inside(name: str, root: Path, directory: str) -> str:
    """The file, relative to the project's root; "" if there is none, or it is outside the project."""
    for base in (root / directory, root):
        path = os.path.normpath(base / name)
        if path.startswith(f"{root}{os.sep}") and os.path.isfile(path):
            return os.path.relpath(path, root)
    return ""
