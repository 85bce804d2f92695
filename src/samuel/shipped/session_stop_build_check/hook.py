"""SessionStop: runs the builds of what was changed, and tells where they fail."""

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
from samuel.shipped.event_fields import line, told
from samuel.shipped.session_stop_build_check.failing_place import FailingLine, failing_place
from samuel.shipped.session_stop_build_check.rules import Builds, BuildStep, steps

MARGIN = 1.0  # seconds to answer before the deadline
OUTPUT_LIMIT = 256 * 1024 * 1024
KEPT = 1024 * 1024  # bytes of output that are looked through: the end of it


class BuildResult(NamedTuple):
    step: BuildStep
    why: str = ""  # it failed: how; "" is success
    said: str = ""  # the line that says most
    place: FailingLine | None = None


def hook(event: SessionStop) -> dict[str, Any]:
    root = Path(event.project_root)
    given = [] if isinstance(event.changed_files, UnsetType) else event.changed_files
    changed = [os.path.relpath(root / path, root) for path in given]
    wanted = steps(told(event, Builds), changed)
    if not wanted or event.dry_run:
        names = ", ".join(f"`{step.shown}`" for step in wanted)
        said = f"would run {names}" if wanted else "no build is meant for what was changed"
        return {"logs": [{"level": "info", "message": said}]}
    until = time.monotonic() + event.deadline_ms / 1000 - MARGIN if event.deadline_ms else None
    built = [_build(step, root, changed, until) for step in wanted]
    failed = [one for one in built if one.why]
    places = dict.fromkeys(one.place for one in failed if one.place)
    return {
        "messages_to_user": [
            f"Ran {' and '.join(f'`{step.shown}`' for step in wanted)} for what was changed.",
            *map(_summary, built),
            *(["Recommend fixing this before merging."] if failed else []),
        ],
        **({"follow_up_actions": [_open(place) for place in places]} if places else {}),
    }


def _build(step: BuildStep, root: Path, changed: list[str], until: float | None) -> BuildResult:
    left = None if until is None else until - time.monotonic()
    if left is not None and left <= 0:
        return BuildResult(step, "was not run: there is no time left; `timeout` in the hook's file gives it more")
    limit = min((seconds for seconds in (left, step.timeout) if seconds is not None), default=None)
    ended = spawn.run(
        step.words,
        cwd=str(root / step.directory),
        env=os.environ,
        timeout=limit,
        output_limit=OUTPUT_LIMIT,
        keep=KEPT,
    )
    if ended.ended == "not_started":
        return BuildResult(step, f"could not be started: {ended.why}")
    output = (ended.stdout + b"\n" + ended.stderr).decode("utf-8", "replace")
    if ended.ended == "exited" and ended.returncode == 0:
        return BuildResult(step)
    why = f"failed with exit code {ended.returncode}"
    if ended.ended == "timed_out" and limit is not None:
        why = f"was ended after {format_duration(round(limit, 1))}"
    elif ended.ended == "too_much_output":
        why = "was ended: it said too much"
    elif ended.returncode < 0:
        why = f"was ended by signal {-ended.returncode}"
    place = failing_place(output, root, step.directory, changed)
    return BuildResult(step, why, place.said if place else line(last_line(output, ""), 200), place)


def _summary(one: BuildResult) -> str:
    if not one.why:
        return f"`{one.step.shown}`: success."
    where = f" at {one.place.path}:{one.place.line}" if one.place else ""
    return f"`{one.step.shown}` {one.why}{where}" + (f": {one.said}" if one.said else ".")


def _open(place: FailingLine) -> dict[str, Any]:
    return {"kind": "open_file", "payload": {"path": place.path, "line": place.line}}
