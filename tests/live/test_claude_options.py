"""Options of Claude Code that a run adds by its version: the limit of money, and what subagents say."""

from __future__ import annotations

import json

import pytest
from tests.live.conftest import LOOP_VARIABLES, LiveProject
from tests.live.test_claude_mods import ONLY_CLAUDE

from samuel.clients.adapter.agent import ProcessFacts
from samuel.clients.adapter.ending import EndingKind
from samuel.clients.claude.adapter import AGENT, ClaudeStream
from samuel.proving.model.launch import SCRIPTED_CLIENTS
from samuel.proving.model.server import ModelServer
from samuel.proving.model.wire import FinalText, Step

PROMPT = "Do what the script says."


def run_claude(live: LiveProject, steps: list[Step], budget: float | None, others: tuple[Step, ...] = ()) -> str:
    """What claude prints with the command line of a run."""
    claude = SCRIPTED_CLIENTS["claude"]
    assert AGENT.options is not None
    version = live.run(("claude", "--version"), live.env).stdout.split()[0]
    options = AGENT.options(ProcessFacts(version, budget))
    with ModelServer([*steps, FinalText("Done.")], main=PROMPT, others=others) as model:
        launch = claude.launch(model.url, live.settings, live.env)
        env = {**live.env, **launch.env, **LOOP_VARIABLES}
        return live.run((*AGENT.command, *options, PROMPT), env).stdout


@pytest.mark.live
@pytest.mark.slow
@ONLY_CLAUDE
def test_claude_ends_itself_when_the_budget_is_used_up(live: LiveProject, client: str) -> None:
    calls: list[Step] = [SCRIPTED_CLIENTS[client].shell(f"touch ran-{number}") for number in range(20)]
    stream = ClaudeStream()
    printed = run_claude(live, calls, 0.001)
    for line in printed.splitlines():
        stream.feed(line.encode())
    assert stream.problem is not None, printed[-3000:]
    assert stream.problem.kind is EndingKind.OVER_BUDGET
    assert not (live.root / "ran-19").exists()


@pytest.mark.live
@pytest.mark.slow
@ONLY_CLAUDE
def test_what_a_subagent_of_claude_says_is_in_its_output(live: LiveProject, client: str) -> None:
    subagent = SCRIPTED_CLIENTS[client].subagent
    assert subagent is not None
    printed = run_claude(live, [subagent("Say it.")], None, (FinalText("The subagent speaks."),))
    records = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    subagent_records = [
        record for record in records if record["type"] == "assistant" and record.get("parent_tool_use_id")
    ]
    assert "The subagent speaks." in json.dumps(subagent_records), printed
