"""A project with a guard and a rewriter, and what its journal has about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.live.conftest import LiveProject

from samuel.base.paths import Project
from samuel.journal import EventRecord, newest_first

HOOKS = """
import samuel


@samuel.hook("PreAbilityCall", role="rewrite")
def rewrite(event):
    command = event.tool_input.get("command", "")
    if "before" in command:
        return {"tool_input": {**event.tool_input, "command": command.replace("before", "after")}}


@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    if "victim" in event.tool_input.get("command", ""):
        return {"decision": "deny", "reason": "the victim stays where it is"}


@samuel.hook("PostAbilityCall", "UserPromptSubmit", role="observe")
def observe(event):
    pass
"""


def guard_project(live: LiveProject) -> Path:
    """Give the project its hooks, trusted, and the file that the guard protects, which is returned."""
    live.write(".samuel/hooks/live.py", HOOKS)
    live.samuel("trust", "--yes")
    return live.write("victim", "precious")


def fired(live: LiveProject, event: str) -> list[dict[str, Any]]:
    """The payloads of the events with this name in the journal, the oldest first."""
    records = newest_first(live.root, Project(live.root).journal)
    payloads = [record.payload for record in records if isinstance(record, EventRecord) and record.event == event]
    return [json.loads(bytes(payload)) for payload in reversed(payloads)]
