"""One event of a client that is delivered through several of its hooks: it is fired once.

Some clients run the hooks of another one, too. A call then arrives through each, in processes that know nothing of
each other. What was answered the first time is kept in the user's state directory, not in the project, which an
agent may change. The others are answered with it, and neither the journal nor a handler sees them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.clock import SystemClock
from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.clients.dialect.events import DENIABLE
from samuel.clients.dialect.protocol import ClientReply
from samuel.files import atomic
from samuel.files.lock import held
from samuel.files.regular import read_regular

DIRECTORY = "deliveries"
PATIENCE = 60.0
"""Seconds to wait for the same event in another process; after that it is fired again."""
OLDEST = 24 * 3600
"""Seconds after which what is kept of a session is removed."""


class Delivered(msgspec.Struct):
    """What is known of one event. Without the id of a call, equal events are told apart by counting."""

    counts: dict[str, int] = {}
    """How often each hook delivered it."""
    fired: int = 0
    result: dict[str, Any] = {}
    decision: str = ""
    reason: str = ""


def fire_once(
    state: Path, hook: str, event: str, context: Mapping[str, Any], fire: Callable[[], ClientReply]
) -> ClientReply:
    """Fire the event unless another hook than `hook` delivered it before; the reply then repeats what was decided.

    Where nothing can be kept, the event is fired: it is better judged twice than not at all.
    """
    session = context.get("session_id")
    if not isinstance(session, str) or not session:
        return fire()
    place = state / DIRECTORY / _digest(session)
    file = place / _digest(event, *_identity(context))
    with ExitStack() as stack:
        try:
            _make(place)
            stack.enter_context(held(file.with_suffix(".lock"), wait=PATIENCE, note="samuel emit"))
        except (OSError, SamuelError):
            return fire()
        return _fire_or_repeat(file, hook, event, bool(context.get("call_id")), fire)


def _fire_or_repeat(
    file: Path, hook: str, event: str, has_id: bool, fire: Callable[[], ClientReply]
) -> ClientReply:
    delivered = _read(file)
    count = delivered.counts.get(hook, 0) + 1
    delivered.counts[hook] = count
    again = delivered.fired > 0 if has_id else count <= delivered.fired
    if not again:
        reply = fire()
        delivered.fired += 1
        delivered.decision, delivered.reason = reply.decision, reply.reason
        delivered.result = {key: reply.result[key] for key in ("tool_input",) if key in reply.result}
    with suppress(OSError):
        atomic.write_bytes(file, msgspec.json.encode(delivered), 0o600, durable=False)
    if not again:
        return reply
    if event not in DENIABLE:
        return ClientReply()
    return ClientReply(delivered.result, delivered.decision, delivered.reason)


def _identity(context: Mapping[str, Any]) -> tuple[object, ...]:
    """What two deliveries of one event have in common."""
    keys = ("call_id", "ability_id", "tool_input", "status", "user_message", "subagent")
    return tuple(context.get(key) for key in keys)


def _digest(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:32]


def _read(file: Path) -> Delivered:
    try:
        return decode_json(read_regular(file), Delivered)
    except (OSError, msgspec.MsgspecError):
        return Delivered()


def _make(place: Path) -> None:
    """Make the directory of a session, and remove those of sessions that are long over."""
    if place.is_dir():
        return
    place.mkdir(parents=True, mode=0o700, exist_ok=True)
    limit = SystemClock().now() - OLDEST
    for other in os.scandir(place.parent):
        if other.is_dir(follow_symlinks=False) and other.stat(follow_symlinks=False).st_mtime < limit:
            shutil.rmtree(other.path, ignore_errors=True)
