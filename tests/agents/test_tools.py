"""The tools that an agent may use: told to programs that can be held to them, and said of those that cannot."""

from __future__ import annotations

from typing import Any

import pytest

from samuel.clients.adapter.agent import TOOLS
from samuel.clients.table import AGENTS

REPORT = ["--output-format", "stream-json", "--verbose"]


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        (
            "Read\nBash(git diff:*)\nBash(git log:*)",
            [
                "--tools=Read,Bash",
                "--allowedTools=Read,Bash(git diff:*),Bash(git log:*)",
                "--permission-mode=dontAsk",
            ],
        ),
        ("", ["--tools=", "--permission-mode=dontAsk"]),
        ("--dangerously-skip-permissions", None),
    ],
)
def test_claude_is_held_to_them(desk: Any, tools: str, words: list[str] | None) -> None:
    desk.recorder("claude")
    done = desk.run(AGENTS["claude"], env={TOOLS: tools})
    argv = desk.recorded()["argv"][1:]
    assert done.notes == ()
    assert "--dangerously-skip-permissions" not in argv  # whatever a tool is called
    if words is not None:
        assert argv == ["-p", *words, *REPORT]


def test_without_a_list_claude_may_use_all_it_has(desk: Any) -> None:
    desk.recorder("claude")
    desk.run(AGENTS["claude"])
    assert desk.recorded()["argv"][1:] == ["-p", "--dangerously-skip-permissions", *REPORT]


@pytest.mark.parametrize("name", ["codex", "gemini", "copilot", "kiro"])
def test_of_the_others_it_is_said(desk: Any, name: str) -> None:
    agent = AGENTS[name]
    desk.recorder(agent.command[0])
    done = desk.run(agent, env={TOOLS: "Read"})
    assert done.exit_code == 0
    assert done.notes == (f"the agent `{name}` cannot be held to the tools Read",)


def test_a_session_of_its_own_has_files_of_its_own(desk: Any) -> None:
    done = desk.run(desk.sh("echo hi"), session="ses-1")
    assert done.stdout_path == str(desk.state / "logs/ses-1.log")


@pytest.mark.parametrize("session", ["../../escape", "a/b", ".hidden", "", "x" * 200, "a\n"])
def test_a_session_never_names_a_path(desk: Any, session: str) -> None:
    done = desk.run(desk.sh("echo hi"), session=session)
    assert done.stdout_path == str(desk.state / "logs/iteration-0007.log")
