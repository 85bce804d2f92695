"""`samuel bridge check --live --all`: what the table says about installed clients."""

from __future__ import annotations

from typing import Any

import pytest
from tests.length import at_length
from tests.live.conftest import LiveProject


def rows(live: LiveProject, client: str) -> dict[tuple[str, str], dict[str, Any]]:
    table = live.answer("bridge", "check", "--live", "--all", client)
    return {(row["agent"], row["event"]): row for row in table}


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("client", at_length([], ["claude"]), indirect=True)
def test_claude_fails_closed_by_itself_and_a_mod_that_answers_first_shows(live: LiveProject, client: str) -> None:
    table = rows(live, client)
    calls = table["claude", "PreToolUse"]
    held = (
        "honoured",
        "rewritten",
        "guard_crash",
        "guard_timeout",
        "guard_garbage",
        "crash",
        "timeout",
        "missing",
    )
    assert {calls[column] for column in (*held, "subagents", "mcp_tools")} == {"yes"}, calls
    unset = table["claude, without `onFailure`", "PreToolUse"]
    assert (unset["honoured"], unset["crash"], unset["timeout"]) == ("yes", "yes", "no"), unset
    assert table["claude, with a mod that answers first", "PreToolUse"]["honoured"] == "no"
    assert table["claude, with a mod that throws", "PreToolUse"]["honoured"] == "yes"


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("client", at_length([], ["codex"]), indirect=True)
def test_codex_denies_where_a_guard_or_the_program_fails(live: LiveProject, client: str) -> None:
    table = rows(live, client)
    calls, prompts = table["codex", "PreToolUse"], table["codex", "UserPromptSubmit"]
    held = ("honoured", "rewritten", "guard_crash", "guard_timeout", "guard_garbage", "crash", "missing")
    assert {calls[column] for column in held} == {"yes"}, calls
    assert {prompts[column] for column in ("honoured", "crash", "missing")} == {"yes"}, prompts
