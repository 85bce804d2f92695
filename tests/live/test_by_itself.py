"""One guard, in each client by itself, connected by `samuel bridge add`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.live.conftest import LiveProject
from tests.live.trust import trust_hooks

from samuel.dialects.clients.limits import HONOURED, REWRITE, Limit
from samuel.dialects.clients.table import CLIENTS
from samuel.journal import EventRecord, newest_first
from samuel.paths import Project

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
USER_ONLY = ("kimi",)  # they have no hooks of a project
ENDS_ON_DENIAL = ("cline",)  # a denial ends the run, so the model is never told
UNTOLD_FAILURES = ("codex",)  # its hooks are told the output of a command, and not whether it failed


def fired(live: LiveProject, event: str) -> list[dict[str, Any]]:
    """The payloads of the events with this name in the journal, the oldest first."""
    records = newest_first(live.root, Project(live.root).journal)
    payloads = [record.payload for record in records if isinstance(record, EventRecord) and record.event == event]
    return [json.loads(bytes(payload)) for payload in reversed(payloads)]


@pytest.mark.live
def test_a_guard_and_a_rewrite_reach_the_tool_calls_of_a_client(live: LiveProject, client: str) -> None:
    live.write(".samuel/hooks/live.py", HOOKS)
    live.samuel("trust", "--yes")
    victim = live.write("victim", "precious")
    live.samuel("bridge", "add", "--user" if client in USER_ONLY else "--project", client)
    trust_hooks(live, client)

    played = live.play(client, "echo before > rewritten", "exit 3", "rm -rf victim")

    assert victim.read_text() == "precious", played
    if client not in ENDS_ON_DENIAL:
        assert "the victim stays where it is" in played.told, played
    rewrites = CLIENTS[client].limits.get(("PreAbilityCall", REWRITE), Limit(HONOURED, "")).verdict != "lost"
    assert (live.root / "rewritten").read_text() == ("after\n" if rewrites else "before\n"), played
    assert [call["ability_id"] for call in fired(live, "PreAbilityCall")] == ["shell"] * 3, played
    statuses = [call["status"] for call in fired(live, "PostAbilityCall")]
    assert statuses[:2] == ["success", "success" if client in UNTOLD_FAILURES else "failure"], played
    assert fired(live, "UserPromptSubmit"), played
