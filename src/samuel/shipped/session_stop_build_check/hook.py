"""SessionStop: builds the files that were changed, and reports where a build fails."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UnsetType

from samuel.config.duration import format_duration
from samuel.events import SessionStop
from samuel.process import spawn
from samuel.process.output import last_line
from samuel.shipped.event_fields import config_of, one_line
from samuel.shipped.session_stop_build_check.failing_place import FailingLine, failing_place
from samuel.shipped.session_stop_build_check.rules import Builds, BuildStep, build_steps

MARGIN = 1.0  # seconds to answer before the deadline
OUTPUT_LIMIT = 256 * 1024 * 1024
OUTPUT_TAIL = 1024 * 1024  # bytes at the end of the output that are searched


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
    return {
        "messages_to_user": [
            f"Ran {' and '.join(f'`{step.command_line}`' for step in steps)} for what was changed.",
            *map(_summary, results),
            *(["Recommend fixing this before merging."] if failed else []),
        ],
        **({"follow_up_actions": [_open(place) for place in places]} if places else {}),
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


def _open(place: FailingLine) -> dict[str, Any]:
    return {"kind": "open_file", "payload": {"path": place.path, "line": place.line}}
