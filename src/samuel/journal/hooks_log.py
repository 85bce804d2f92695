"""`.system/logs/hooks.log`: one JSON line per call, for the maintainers of a repository's hooks.

The journal has more; this is a short view that lies beside the hooks. It is written only where there is a
`.system/`. A log that cannot be written is one warning; the events go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.clock import Clock, iso
from samuel.base.errors import SamuelError
from samuel.base.paths import SYSTEM
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import Event
from samuel.events.catalogue import BY_PAYLOAD
from samuel.files.log import append
from samuel.hooks.handler import Origin
from samuel.journal.records import would_record

NAME = "hooks.log"
MAX_LOGS = 20  # entries of one result


class Line(msgspec.Struct, omit_defaults=True):
    """One call of a hook."""

    timestamp: str
    hook: str
    event: str
    status: str  # the outcome
    duration_ms: float
    session_id: str = ""
    message: str = ""
    logs: list[dict[str, str]] = []  # the `logs` of the hook's result


class HooksLog:
    """The sink that writes hooks.log. The lines of an event are written together, when it ends."""

    def __init__(self, root: Path, clock: Clock, warn: Callable[[str], None]) -> None:
        self._root = root
        self._system = str(root / SYSTEM)  # joined once: looked for at every event
        self._clock = clock
        self._warn = warn
        self._broken = False

    def begin(self, event: Event) -> None:
        pass

    def called(self, event: Event, call: HandlerCall) -> None:
        pass

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None:
        calls = [call for call in fired.calls if call.handler.origin is not Origin.BUILT_IN]
        # `access` first: `isdir` costs three times as much where there is none, as in most projects.
        if not calls or self._broken or not (os.access(self._system, os.F_OK) and os.path.isdir(self._system)):
            return
        at = iso(self._clock.now())
        lines = (msgspec.json.encode(_line(at, event, call)) + b"\n" for call in calls)
        try:
            append(self._root, SYSTEM, "logs", NAME, entry=b"".join(lines))
        except (OSError, SamuelError) as error:
            from samuel.files.explained import reason  # only for people who have to look at their disk

            self._broken = True
            self._warn(f"`{SYSTEM}/logs/{NAME}` cannot be written: {reason(error)}")


def _line(at: str, event: Event, call: HandlerCall) -> Line:
    would = would_record(call)
    return Line(
        at,
        call.handler.name,
        BY_PAYLOAD[type(event)].name,
        call.outcome,
        round(call.duration_ms, 3),
        event.session_id if isinstance(event.session_id, str) else "",
        "; ".join(filter(None, (call.message, would.text if would else ""))),
        _logs(call.would.result if call.would else call.result),
    )


def _logs(result: Mapping[str, Any]) -> list[dict[str, str]]:
    """The `logs` of the result, as far as they are valid: only results of session events are checked for it."""
    logs = result.get("logs")
    if not isinstance(logs, list):
        return []
    entries = [entry for entry in logs if isinstance(entry, dict)][:MAX_LOGS]
    return [
        {"level": str(entry.get("level", "info")), "message": str(entry.get("message", ""))} for entry in entries
    ]
