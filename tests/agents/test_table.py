"""From a name to an agent, and whether it is there."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from samuel.agents.check import installed_agents, missing, missing_in
from samuel.agents.find_agent import configured, find
from samuel.base.errors import UsageError
from samuel.clients.table import AGENTS
from samuel.config.model import AgentSettings
from samuel.confine.sandbox import Workspace


def test_samuel_toml_wins_over_what_is_shipped() -> None:
    mine = AgentSettings("claude", ("./claude", "{prompt_file}"), "file", ("MY_KEY",))
    agent = find("claude", {"claude": mine})
    assert (agent.command, agent.prompt, agent.env) == (mine.command, "file", ("MY_KEY",))
    assert find("claude", {}) is AGENTS["claude"]


def test_an_unknown_agent_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="there is no agent `cluade`\ndid you mean `claude`"):
        find("cluade", {})


def test_an_agent_like_no_other_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(UsageError, match=r"there is no agent `zebra`\nthe agents are agy, .*, mine, "):
        find("zebra", {"mine": AgentSettings("mine", ("x",))})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (AgentSettings("a", (), "stdin"), "no `command`"),
        (AgentSettings("a", ("x", "{prompt}"), "file"), "no `{prompt_file}`"),
        (AgentSettings("a", ("x", "{prompt_file}"), "argument"), "no `{prompt}`"),
    ],
)
def test_a_command_that_cannot_get_its_prompt_is_refused(settings: AgentSettings, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        configured(settings)


def test_python_stands_for_the_one_that_runs_samuel() -> None:
    assert configured(AgentSettings("a", ("{python}", "agent.py"), "stdin")).command == (
        sys.executable,
        "agent.py",
    )


class TestMissing:
    def test_says_what_would_install_it(self, desk: Any) -> None:
        claude = AGENTS["claude"]
        message = "the agent `claude` needs `claude`, which is not on PATH"
        assert missing(claude, desk.host["PATH"]) == f"{message}; to install it: {claude.install}"
        desk.recorder("claude")
        assert missing(claude, desk.host["PATH"]) == ""

    def test_looks_below_the_project_for_a_path(self, desk: Any) -> None:
        agent = configured(AgentSettings("mine", ("./agent",), "stdin"))
        assert "`./agent`, which does not exist" in missing(agent, "", desk.root)
        (desk.root / "agent").write_text("#!/bin/sh\n")
        message = "the agent `mine` cannot run `./agent`: permission denied; `chmod +x ./agent`"
        assert missing(agent, "", desk.root) == message
        (desk.root / "agent").chmod(0o755)
        assert missing(agent, "", desk.root) == ""

    def test_step_of_the_scripted_agent_that_is_not_executable_is_named(self, desk: Any) -> None:
        scripted, steps = AGENTS["scripted"], desk.root / ".samuel/scripted"
        (steps / "1.2").mkdir(parents=True)
        (steps / "1.2/data.sh").write_text("#!/bin/sh\n")  # copied, not run
        (steps / "README").write_text("what the steps are for\n")
        assert missing(scripted, "", desk.root) == ""
        for name in ("default", "1.2/1"):
            (steps / name).write_text("#!/bin/sh\n")
            file = f".samuel/scripted/{name}"
            message = f"the agent `scripted` cannot run `{file}`: permission denied; `chmod +x {file}`"
            assert missing(scripted, "", desk.root) == message
            (steps / name).chmod(0o755)
        assert missing(scripted, "", desk.root) == ""

    def test_is_the_same_question_on_the_host(self, desk: Any, box: Any) -> None:
        place = Workspace(desk.root, desk.state, desk.host)
        assert "not on PATH" in missing_in(AGENTS["codex"], box(), place)
        assert missing_in(AGENTS["scripted"], box(), place) == ""


def test_a_program_is_asked_for_its_version(desk: Any) -> None:
    desk.program("claude", '#!/bin/sh\n[ "$1" = --version ] && echo 2.1.197 "(Claude Code)"\n')
    agents = installed_agents([AGENTS[name] for name in ("claude", "codex", "scripted")], desk.host, desk.root)
    assert [agent.version for agent in agents] == ["2.1.197 (Claude Code)", "", ""]
