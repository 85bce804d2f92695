"""Keys that look like a verdict: a guard that misspells its denial must not allow the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from samuel.dispatch.record import Fired
from samuel.hooks.handler import Outcome
from samuel.testing import Recorder, SamuelProject

FIELDS = {"PreAbilityCall": {"ability_id": "shell"}, "UserPromptSubmit": {"user_message": "hello"}}
MISSPELT = [
    ({"decison": "deny"}, "`decison`", "`decision`"),
    ({"desicion": "deny"}, "`desicion`", "`decision`"),
    ({"Decision": "deny"}, "`Decision`", "`decision`"),
    ({"decision": None, "decisoin": "deny"}, "`decisoin`", "`decision`"),
    ({"bloked": True}, "`bloked`", "`blocked`"),
    ({"block": True}, "`block`", "`blocked`"),
    ({"resaon": "too dangerous"}, "`resaon`", "`reason`"),
    ({"deny": True}, "`deny`", "`decision`"),
    ({"permissionDecision": "deny"}, "`permissionDecision`", "`decision`"),
    ({"permission_decision": "deny"}, "`permission_decision`", "`decision`"),
    (
        {"hookSpecificOutput": {"permissionDecision": "deny"}},
        "`hookSpecificOutput`",
        "`decision`",
    ),
    ({"continue": False}, "`continue`", "`decision`"),
    ({"ok": True, "extra": 1, "deny": True}, "`deny`", "`decision`"),
]
IDS = [" ".join(answer) for answer, _, _ in MISSPELT]


@pytest.fixture
def call(samuel_project: SamuelProject) -> Callable[..., Fired]:
    def call(answer: Any, event: str = "PreAbilityCall", **options: Any) -> Fired:
        with samuel_project.open(handlers=[Recorder(event, name="guard", returns=answer, **options)]) as app:
            return app.fire(event, **FIELDS[event])

    return call


@pytest.mark.parametrize("event", FIELDS)
@pytest.mark.parametrize("options", [{"role": "guard"}, {"strict": True}], ids=["guard", "strict"])
@pytest.mark.parametrize(("answer", "wrong", "right"), MISSPELT, ids=IDS)
def test_a_guard_with_a_misspelt_verdict_denies(
    call: Callable[..., Fired], answer: dict[str, Any], wrong: str, right: str, options: Any, event: str
) -> None:
    fired = call(answer, event, **options)
    why = f"returned {wrong}, which has no effect; did you mean {right}?"
    assert (fired.denied, fired.calls[0].outcome) == (True, Outcome.BAD_OUTPUT)
    assert fired.reason == f"`guard` bad_output: {why}; a guard that fails denies"


@pytest.mark.parametrize("event", FIELDS)
@pytest.mark.parametrize(("answer", "wrong", "right"), MISSPELT, ids=IDS)
def test_a_misspelt_verdict_of_a_handler_that_is_not_strict_is_a_warning(
    call: Callable[..., Fired], answer: dict[str, Any], wrong: str, right: str, event: str
) -> None:
    fired = call(answer, event)
    assert (fired.denied, fired.calls[0].outcome) == (False, Outcome.OK)
    assert fired.warnings == (f"`guard` returned {wrong}, which has no effect; did you mean {right}?",)


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "allow", "continue": True, "decisions": ["a", "b"]},
        {"decision": "allow", "reason": "fine", "reasons": ["a", "b"]},
        {"revision": 3, "precision": 0.5, "season": "winter", "response": "text", "region": "eu", "": 1},
        {"ok": True},
        {},
        None,
    ],
)
def test_a_guard_may_return_keys_of_its_own_that_are_not_like_a_verdict(
    call: Callable[..., Fired], answer: dict[str, Any]
) -> None:
    fired = call(answer, role="guard")
    assert (fired.denied, fired.warnings) == (False, ())


def test_a_verdict_counts_also_if_its_reason_is_misspelt(call: Callable[..., Fired]) -> None:
    why = "returned `resaon`, which has no effect; did you mean `reason`?"
    assert call({"decision": "allow", "resaon": "fine"}, role="guard").warnings == (f"`guard` {why}",)
    denied = call({"decision": "deny", "resaon": "too dangerous"}, role="guard")
    assert (denied.calls[0].outcome, denied.reason) == (Outcome.DENIED, f"denied without a reason ({why})")


@pytest.mark.parametrize("decision", ["block", "Deny", "no", "", True])
def test_a_guard_with_a_decision_that_does_not_exist_denies(call: Callable[..., Fired], decision: Any) -> None:
    fired = call({"decision": decision}, role="guard")
    assert (fired.denied, fired.calls[0].outcome) == (True, Outcome.BAD_OUTPUT)


def test_a_misspelt_verdict_cannot_write_to_the_terminal(call: Callable[..., Fired]) -> None:
    fired = call({"decision\x1b[2J": "deny"}, role="guard")
    assert fired.denied
    assert "\x1b" not in fired.reason
