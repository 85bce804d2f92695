"""`samuel hooks check --agent X`: what an agent honours, limits and loses."""

from __future__ import annotations

import pytest

HOOK = "id: {id}\nevent_type: {event}\n{more}handler: {{kind: script, command: cat}}\n"


@pytest.fixture
def hooks(put, samuel):
    """Write YAML hooks: id, event, further lines."""

    def write(*hooks: tuple[str, str, str]) -> None:
        for id, event, more in hooks:
            put(f".system/hooks/{id}.yaml", HOOK.format(id=id, event=event, more=more))
        samuel("trust", "--yes")

    return write


def test_each_handler_of_a_session_event_has_a_verdict(samuel, hooks) -> None:
    hooks(
        ("guard", "PreAbilityCall", "role: guard\n"),
        ("rewriter", "PreAbilityCall", "role: rewrite\n"),
        ("log", "TurnEnd", "role: observe\n"),
        ("loop", "after:iteration", ""),
    )
    ran = samuel("hooks", "check", "--agent", "qwen", "--json")
    assert ran.code == 1
    assert ran.json["data"]["agent"] == "qwen"
    verdicts = [tuple(row.values()) for row in ran.json["data"]["handlers"]]
    assert verdicts == [
        (
            *("guard", "PreAbilityCall", "limited"),
            "Qwen Code denies when a hook asks, so Samuel denies with the question as the reason",
        ),
        ("rewriter", "PreAbilityCall", "lost", "Qwen Code ignores a rewritten input"),
        ("log", "TurnEnd", "lost", "Qwen Code does not report TurnEnd"),
    ]
    assert list(ran.json["data"]["handlers"][0]) == ["name", "event", "verdict", "why"]


def test_the_check_fails_only_if_a_hook_is_lost(samuel, hooks) -> None:
    hooks(("guard", "PreAbilityCall", "role: guard\n"))
    ran = samuel("hooks", "check", "--agent", "claude")
    assert ran.code == 0
    assert ran.out.splitlines()[1].split() == ["guard", "PreAbilityCall", "honoured", "-"]
    assert samuel("hooks", "check", "--agent", "codex").code == 0  # limited


def test_an_agent_without_hooks_loses_all(samuel, hooks, put) -> None:
    agent = '[agents.{}]\ncommand = ["program"]\nprompt = "stdin"\n'
    put("samuel.toml", f'{agent.format("mine")}{agent.format("ours")}hooks = "claude"\n')
    hooks(("guard", "PreAbilityCall", "role: guard\n"))
    for agent in ("aider", "mine"):
        ran = samuel("hooks", "check", "--agent", agent)
        assert ran.code == 1
        assert ran.out.splitlines()[1].split(maxsplit=3)[2:] == ["lost", f"Samuel knows no hooks of `{agent}`"]
    assert samuel("hooks", "check", "--agent", "ours").code == 0  # it says which client it wraps


def test_a_project_without_such_hooks_loses_none(samuel) -> None:
    ran = samuel("hooks", "check", "--agent", "agy")
    assert (ran.code, ran.out) == (
        0,
        "no hook handles an event of a session, so Antigravity CLI can lose none\n",
    )


def test_a_hook_that_is_not_trusted_is_listed_too(samuel, put) -> None:
    put(".samuel/hooks/guard", "#!/bin/sh\necho PreAbilityCall\n", 0o755)
    rows = samuel("hooks", "check", "--agent", "copilot", "--json").json["data"]["handlers"]
    assert [(row["name"], row["event"], row["verdict"]) for row in rows] == [
        ("guard", "UserPromptSubmit", "lost"),
        ("guard", "PreAbilityCall", "limited"),
        ("guard", "PreCompact", "lost"),
        ("guard", "ConfigChange", "lost"),
    ]


def test_an_agent_without_hooks_is_refused(samuel) -> None:
    ran = samuel("hooks", "check", "--agent", "gemni")
    assert ran.code == 2
    assert "did you mean `gemini`?" in ran.err


@pytest.mark.parametrize(
    "command", [("hooks", "list"), ("hooks", "validate"), ("hooks", "check", "--agent", "claude")]
)
def test_a_filter_on_a_name_that_never_occurs_is_a_warning(samuel, hooks, command: tuple[str, ...]) -> None:
    hooks(("guard", "PreAbilityCall", "role: guard\nmatch: {ability_id: [Bash, shell]}\n"))
    ran = samuel(*command)
    assert ran.code == 0
    assert "warning: `guard` matches the tool `Bash`, which no agent's call has: write `shell`\n" in ran.err
    doctor = samuel("doctor").out
    assert "`guard` matches the tool `Bash`" in " ".join(doctor.split())
