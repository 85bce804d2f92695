"""One guard, in each client by itself, connected by `samuel bridge add`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from samuel.dialects.clients.limits import HONOURED, REWRITE, Limit
from samuel.dialects.clients.table import CLIENTS

from .conftest import LiveProject
from .trust import trust_hooks

HOOKS = """
import json
from pathlib import Path

import samuel

ROOT = Path(__file__).parents[2]


@samuel.hook("PreAbilityCall", role="rewrite")
def rewrite(event):
    command = event.tool_input.get("command", "")
    if "before" in command:
        return {"tool_input": {**event.tool_input, "command": command.replace("before", "after")}}


@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    if "victim" in event.tool_input.get("command", ""):
        return {"decision": "deny", "reason": "the victim stays where it is"}


@samuel.hook("PreAbilityCall", "PostAbilityCall", "UserPromptSubmit", role="observe")
def observe(event):
    ability, status = getattr(event, "ability_id", ""), getattr(event, "status", "")
    record = {"event": event.event, "ability": ability, "status": status}
    with (ROOT / "events.jsonl").open("a") as log:
        log.write(json.dumps(record) + "\\n")
"""
USER_ONLY = ("kimi",)  # they have no hooks of a project
ENDS_ON_DENIAL = ("cline",)  # a denial ends the run, so the model is never told
UNSEEN_FAILURES = ("kimi",)  # kimi may end before its hook for a failed call has been started


def events(live: LiveProject) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (live.root / "events.jsonl").read_text().splitlines()]


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
    calls = [event for event in events(live) if event["event"] == "PreAbilityCall"]
    assert [call["ability"] for call in calls] == ["shell"] * 3, played
    statuses = [event["status"] for event in events(live) if event["event"] == "PostAbilityCall"]
    assert statuses[: 1 if client in UNSEEN_FAILURES else 2] == ["success", "failure"][: len(statuses)], played
    assert "UserPromptSubmit" in {event["event"] for event in events(live)}
