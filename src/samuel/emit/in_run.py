"""The user's own bridge of a client inside a run: an event that the run fires is not fired a second time.

A user may have connected a client with `samuel bridge add` and run it in the loop, which connects it once more.
The loop fires the events of the session itself, and the run's bridge fires those of tool calls. That holds only
for the session of the client that the run started: a client that this one starts has the user's bridge alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.base.paths import Project
from samuel.clients.dialect.events import POST, PRE
from samuel.journal import EventRecord, newest_first
from samuel.process.environment import BRIDGED
from samuel.process.passed import PINNED

BRIDGE = "bridge"
"""The field of a payload that says who asked: the bridge of a run."""
OF_RUN = "run"


def bridge_field() -> dict[str, str]:
    """The field that marks a payload from the bridge of a run; {} for any other."""
    return {BRIDGE: OF_RUN} if os.environ.get(PINNED) else {}


def check_project(root: Path) -> None:
    """Raise SamuelError if the bridge of a run asks about another project than the run's own.

    An agent that removes samuel.toml and .git would be judged by the hooks of the directory above, or by none.
    """
    if os.environ.get(PINNED) and (own := os.environ.get("SAMUEL_PROJECT_ROOT")) != str(root):
        raise SamuelError(
            f"the run is about `{own}`, but the project here is `{root}`",
            "put back the samuel.toml and the .git of the project",
        )


def is_fired_by_run(root: Path, event: str, context: Mapping[str, Any]) -> bool:
    """Whether the run around this process fires this event too, and this is the user's own bridge."""
    if not os.environ.get(BRIDGED) or os.environ.get(PINNED):
        return False
    if event not in (PRE, POST):
        return True
    session, client_session = context.get("session_id"), context.get("client_session")
    for record in newest_first(root, Project(root).journal):
        if isinstance(record, EventRecord) and record.event in (PRE, POST) and record.session_id == session:
            extra = _extra(record.payload)
            if extra.get(BRIDGE) == OF_RUN:  # the client that the run started: it has one session
                return client_session is not None and extra.get("client_session") == client_session
    return False


def _extra(payload: msgspec.Raw) -> Mapping[str, Any]:
    try:
        extra = decode_json(bytes(payload), dict[str, Any]).get("extra")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    return extra if isinstance(extra, dict) else {}
