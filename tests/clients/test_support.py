"""What becomes of a handler in a client, from the client's facts and what the handler declares."""

from __future__ import annotations

from typing import Any

import pytest

from samuel.clients.dialect import tool_names
from samuel.clients.dialect.limits import KINDS, LIMITED, LOST
from samuel.clients.dialect.support import support
from samuel.clients.table import CLIENTS, client
from samuel.hooks.handler import Handler, Origin, Role

GUARD, REWRITE, OBSERVE = Role.GUARD, Role.REWRITE, Role.OBSERVE


def handler(event: str, role: Role | None = None, **more: Any) -> Handler:
    return Handler(name="h", event=event, origin=Origin.PROJECT, runtime="exec", role=role, **more)


@pytest.mark.parametrize(
    ("name", "event", "role", "verdict", "why"),
    [
        ("claude", "PreAbilityCall", GUARD, "honoured", ""),
        ("claude", "PreAbilityCall", REWRITE, "honoured", ""),
        ("claude", "PreAbilityCall", None, "honoured", ""),
        ("claude", "UserPromptSubmit", None, "honoured", ""),
        ("codex", "PreAbilityCall", GUARD, "limited", "Codex runs the tool when a hook asks, so Samuel denies"),
        ("codex", "PreAbilityCall", REWRITE, "limited", "together with its allow"),
        ("qwen", "PreAbilityCall", REWRITE, "lost", "ignores a rewritten input"),
        ("kimi", "PreAbilityCall", REWRITE, "lost", "ignores a rewritten input"),
        ("kimi", "PreAbilityCall", None, "lost", "if `h` only denies, declare `role: guard`"),
        ("kimi", "PreAbilityCall", GUARD, "limited", "Samuel denies instead"),
        ("qwen", "PreAbilityCall", OBSERVE, "honoured", ""),
        ("cline", "PreAbilityCall", GUARD, "limited", "ends its whole run"),
        ("copilot", "UserPromptSubmit", GUARD, "lost", "a prompt cannot be denied"),
        ("copilot", "UserPromptSubmit", OBSERVE, "honoured", ""),
        ("cline", "UserPromptSubmit", None, "lost", "a prompt cannot be denied"),
        ("agy", "UserPromptSubmit", OBSERVE, "lost", "Antigravity CLI does not report UserPromptSubmit"),
        ("claude", "TurnEnd", None, "lost", "Claude Code does not report TurnEnd"),
        ("codex", "PostAbilityCall", REWRITE, "lost", "takes no other output"),
        ("codex", "PostAbilityCall", None, "limited", "the status is always `success`"),
        ("opencode", "SessionStop", None, "limited", "cannot make it go on"),
        ("opencode", "SessionStop", GUARD, "lost", "cannot make it go on"),
    ],
)
def test_the_verdict_of_a_handler(name: str, event: str, role: Role | None, verdict: str, why: str) -> None:
    answer = support(client(name), handler(event, role))
    assert answer.verdict == verdict
    assert why in answer.why
    assert bool(answer.why) == (verdict != "honoured")


def test_a_blocking_handler_must_be_able_to_deny() -> None:
    blocking = handler("UserPromptSubmit", OBSERVE, blocking=True)
    assert support(client("copilot"), blocking).verdict == LOST
    assert support(client("opencode"), handler("SessionStop", blocking=True)).verdict == LOST


def test_a_handler_whose_events_are_unknown_is_checked_for_the_event_that_it_closes() -> None:
    assert support(client("copilot"), handler(""), "UserPromptSubmit").verdict == LOST


@pytest.mark.parametrize("name", list(CLIENTS))
def test_each_fact_is_about_an_event_of_the_client_and_says_why(name: str) -> None:
    for (event, kind), limit in client(name).limits.items():
        assert event in client(name).events.values()
        assert kind in KINDS
        assert limit.verdict in (LIMITED, LOST)
        assert limit.why


@pytest.mark.parametrize(
    ("tool_name", "common"),
    [
        ("Bash", "shell"),
        ("run_shell_command", "shell"),
        ("run_commands", "shell"),
        ("Monitor", "shell"),
        ("monitor", "shell"),
        ("write_bash", "shell"),
        ("write_stdin", "shell"),
        ("MultiEdit", "edit"),
        ("mcp__db__query", "mcp:db/query"),
        ("shell", ""),
        ("edit", ""),
        ("task", ""),
        ("Bash*", ""),
        ("billing_regression", ""),
    ],
)
def test_a_clients_own_name_of_a_tool_never_occurs(tool_name: str, common: str) -> None:
    assert tool_names.common_name_for(tool_name) == common


def test_an_ability_may_have_the_name_of_a_tool() -> None:
    hooks = [("h", {"ability_id": ["Bash", "shell"]})]
    warning = "`h` matches the tool `Bash`, which no agent's call has: write `shell`"
    assert tool_names.warnings(hooks) == [warning]
    assert tool_names.warnings(hooks, ["Bash"]) == []
