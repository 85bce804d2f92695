"""One guard, in each client by itself, connected by `samuel bridge add`."""

from __future__ import annotations

import pytest
from tests.live.conftest import LiveProject
from tests.live.guarded_project import fired, guard_project
from tests.live.trust import trust_hooks

from samuel.clients.dialect.limits import HONOURED, REWRITE, Limit
from samuel.clients.table import CLIENTS

USER_ONLY = ("kimi",)  # they have no hooks of a project
ENDS_ON_DENIAL = ("cline",)  # a denial ends the run, so the model is never told
UNTOLD_PROMPTS = ("cline",)  # it has the event, and does not fire it for the prompt of its command line
UNTOLD_FAILURES = ("codex",)  # its hooks are told the output of a command, and not whether it failed


@pytest.mark.live
@pytest.mark.slow
def test_a_guard_and_a_rewrite_reach_the_tool_calls_of_a_client(live: LiveProject, client: str) -> None:
    victim = guard_project(live)
    live.samuel("bridge", "add", "--user" if client in USER_ONLY else "--project", client)
    trust_hooks(live, client)

    played = live.play(client, "echo before > rewritten", "exit 3", "rm -rf victim")

    assert victim.read_text() == "precious", played
    if client not in ENDS_ON_DENIAL:
        assert "the victim stays where it is" in played.results_text, played
    rewrites = CLIENTS[client].limits.get(("PreAbilityCall", REWRITE), Limit(HONOURED, "")).verdict != "lost"
    assert (live.root / "rewritten").read_text() == ("after\n" if rewrites else "before\n"), played
    assert [call["ability_id"] for call in fired(live, "PreAbilityCall")] == ["shell"] * 3, played
    statuses = [call["status"] for call in fired(live, "PostAbilityCall")]
    assert statuses[:2] == ["success", "success" if client in UNTOLD_FAILURES else "failure"], played
    assert bool(fired(live, "UserPromptSubmit")) is (client not in UNTOLD_PROMPTS), played


@pytest.mark.live
@pytest.mark.slow
def test_the_second_session_of_a_client_is_answered_by_the_server_of_the_first(
    live: LiveProject, client: str
) -> None:
    """A variable that is another one in each session would cost each of them a server, and a slow first call."""
    guard_project(live)
    live.samuel("bridge", "add", "--user" if client in USER_ONLY else "--project", client)
    trust_hooks(live, client)
    live.play(client, "echo first", "sleep 2", "echo first again")
    (server,) = live.answer("serve", "status")

    played = live.play(client, "echo second")
    (later,) = live.answer("serve", "status")
    live.samuel("serve", "stop")

    assert later["pid"] == server["pid"], played
    assert later["calls"] > server["calls"], played
