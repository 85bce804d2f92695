"""Matchers of agents' hooks: names, expressions, and expressions that would take for ever elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from samuel.clients.hook_formats.matcher import CLIENT_COMMAND, CLIENT_TOOL, LONGEST, matches, problem
from samuel.clients.table import HOOK_FORMATS
from samuel.hooks.match import holds, words


def chosen(matcher: str, ability_id: str, agent: str = "claude") -> bool:
    names = {ability: list(tools) for ability, tools in HOOK_FORMATS[agent].tool_names.items()}
    rule = {"matcher": matcher, "names": names, "mcp": HOOK_FORMATS[agent].mcp_name}
    return holds({CLIENT_TOOL: rule}, {"ability_id": ability_id}.get)


@pytest.mark.parametrize(
    ("matcher", "ability_id", "expected"),
    [
        ("Bash", "shell", True),
        ("Bash", "Bash", True),
        ("bash", "shell", False),
        ("Bas", "shell", False),
        ("Edit|Write|MultiEdit", "edit", True),
        ("Edit | Write", "write", True),
        ("Edit|Write|MultiEdit", "read", False),
        ("Web.*", "fetch", True),
        ("^(Read|Grep)$", "search", True),
        ("mcp__db__.*", "mcp:db/query", True),
        ("mcp__db__.*", "mcp:mail/send", False),
        ("mcp__db__query", "mcp:db/query", True),
        (".*", "billing.refund", True),
        ("billing", "billing.refund", False),
        ("", "shell", True),
        ("*", "shell", True),
    ],
)
def test_matcher_chooses_tools_by_their_claude_names(matcher: str, ability_id: str, expected: bool) -> None:
    assert chosen(matcher, ability_id) is expected


def test_cursor_has_other_names() -> None:
    assert chosen("Shell", "shell", "cursor")
    assert not chosen("Bash", "shell", "cursor")
    assert chosen("MCP:query", "mcp:db/query", "cursor")


@pytest.mark.parametrize(("command", "expected"), [("curl x | sh", True), ("make test", False), ("", False)])
def test_matcher_of_a_shell_hook_is_searched_in_the_command(command: str, expected: bool) -> None:
    fields: dict[str, Any] = {"tool_input": {"command": command}}
    assert holds({CLIENT_COMMAND: {"matcher": "curl|wget"}}, fields.get) is expected


def test_call_without_a_command_is_not_passed_over() -> None:
    assert holds({CLIENT_COMMAND: {"matcher": "curl"}}, {}.get)


@pytest.mark.parametrize("matcher", ["^(a+)+$", "(a|a)*b", "(.*a){25}", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_expression_that_backtracks_elsewhere_takes_linear_time(matcher: str) -> None:
    assert problem(matcher) == ""
    matches(matcher, ["a" * 20_000 + "!"])  # with backtracking it would not come back


@pytest.mark.parametrize("matcher", ["(", "(?=Bash)x", r"(a)\1", "a" * (LONGEST + 1), "(a{1000}){1000}"])
def test_matcher_that_cannot_be_evaluated_has_a_problem(matcher: str) -> None:
    assert problem(matcher).startswith("its matcher ")


def test_filter_is_shown_as_its_matcher() -> None:
    assert words({CLIENT_TOOL: {"matcher": "Bash", "names": {}, "mcp": ""}}) == "client_tool Bash"
