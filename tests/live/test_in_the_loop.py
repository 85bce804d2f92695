"""One guard, in each client as the agent of `samuel run`, without any set-up of the client."""

from __future__ import annotations

import pytest
from tests.length import at_length
from tests.live.conftest import LiveProject
from tests.live.guarded_project import fired, guard_project

from samuel.clients.dialect.limits import HONOURED, LOST, REWRITE, Limit
from samuel.clients.table import AGENTS, CLIENTS

SETTINGS = """
[methodology.ralph]
agent = "{client}"
pause = "0s"
max_iterations = 1
quality_checks = ["test -f victim"]
"""
ENDS_ON_DENIAL = ("cline",)  # a denial ends the run of the client, so the model is never told
UNTOLD_FAILURES = ("codex",)  # its hooks are told the output of a command, and not whether it failed


@pytest.mark.live
@pytest.mark.slow
def test_a_guard_holds_in_a_looped_client_and_every_call_is_judged(live: LiveProject, client: str) -> None:
    live.write("samuel.toml", SETTINGS.format(client=client))
    live.write("prd.md", "# Plan\n\n- [ ] 1.1 Write the file `rewritten`\n")
    victim = guard_project(live)
    live.samuel("run", "init", "--prd", "prd.md", "--yes", "--no-commit")

    played = live.loop(client, "echo before > rewritten", "exit 3", "samuel run done 1.1", "rm -rf victim")

    assert victim.read_text() == "precious", played
    if client not in ENDS_ON_DENIAL:
        assert "the victim stays where it is" in played.results_text, played
    rewrite = CLIENTS[client].limits.get(("PreAbilityCall", REWRITE), Limit(HONOURED, "")).verdict
    assert (live.root / "rewritten").read_text() == ("before\n" if rewrite == LOST else "after\n"), played
    calls = fired(live, "PreAbilityCall")
    assert [(call["ability_id"], call["extra"]["task_id"]) for call in calls] == [("shell", "1.1")] * 4, played
    assert {call["run_id"] for call in calls} == {fired(live, "UserPromptSubmit")[0]["run_id"]}
    statuses = [call["status"] for call in fired(live, "PostAbilityCall")]
    assert statuses[:2] == ["success", "success" if client in UNTOLD_FAILURES else "failure"], played
    assert len(fired(live, "UserPromptSubmit")) == 1, played
    (attempt,) = live.answer("run", "show", "1.1")["attempts"]
    coverage = attempt["coverage"]
    assert coverage["judged"] == coverage["calls"], (coverage, played)
    assert coverage["calls"] in (3, 4), (coverage, played)  # not every client reports a call that was denied


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("client", at_length([], ["claude"]), indirect=True)
def test_a_guard_holds_in_an_agent_of_samuel_toml_that_wraps_a_client(live: LiveProject, client: str) -> None:
    command = ["env", *AGENTS[client].command]
    variables = [*AGENTS[client].env]
    wrapper = f"""
[agents.wrapper]
command = {command}
prompt = "stdin"
env = {variables}
stream = "{client}"
hooks = "{client}"
"""
    live.write("samuel.toml", SETTINGS.format(client="wrapper") + wrapper)
    live.write("prd.md", "# Plan\n\n- [ ] 1.1 Write the file `rewritten`\n")
    victim = guard_project(live)
    live.samuel("run", "init", "--prd", "prd.md", "--yes", "--no-commit")

    played = live.loop(client, "rm -rf victim")

    assert victim.read_text() == "precious", played
    assert "the victim stays where it is" in played.results_text, played
