"""The reason that a handler gives is in the message, also where the rest of its answer cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from samuel.hooks.handler import Outcome
from samuel.testing import Recorder, SamuelProject, fire

REASON = "the disk is full"
GATE = {"consec_fails": 0, "queue_size": 1}
AGENT = {"agent": "x", "prompt": "y"}


@pytest.mark.parametrize(("event", "fields"), [("iteration.gate", GATE), ("agent.invoke", AGENT)])
def test_a_failure_needs_no_key_but_ok(event: str, fields: dict[str, Any]) -> None:
    fired = fire(Recorder(event, returns={"ok": False, "reason": REASON}), event, **fields)
    assert (fired.calls[0].outcome, fired.calls[0].message) == (Outcome.FAILED, REASON)
    assert fired.stopped
    assert fired.reason == f"`recorder` failed: {REASON}"


def test_a_failure_without_a_reason_says_what_the_handler_returned() -> None:
    fired = fire(Recorder("iteration.gate", returns={"ok": False}), "iteration.gate", **GATE)
    assert fired.reason == "`recorder` failed: it returned `ok: false`"


def test_a_gate_that_fails_and_is_not_strict_warns_with_its_reason_and_goes_on() -> None:
    gate = Recorder("iteration.gate", returns={"ok": False, "reason": REASON}, strict=False)
    fired = fire(gate, "iteration.gate", **GATE)
    assert fired.warnings == (f"`recorder` failed: {REASON}",)
    assert (fired.stopped, fired.result["continue"]) == (False, True)


def test_a_check_that_fails_with_a_wrong_list_of_failures_is_not_ok() -> None:
    answer = {"ok": False, "reason": REASON, "failures": "many"}
    fired = fire(Recorder("quality.check", returns=answer, strict=False), "quality.check", commands=[])
    assert not fired.ok
    wrong = "(wrong shape: `failures` must be an array, not a string)"
    assert fired.warnings == (f"`recorder` failed: {REASON} {wrong}",)


@pytest.mark.parametrize(
    ("event", "fields", "answer", "message"),
    [
        ("iteration.gate", GATE, {"reason": REASON}, "wrong shape: `continue` is missing"),
        ("agent.invoke", AGENT, {"exit_code": 0, "reason": REASON}, "wrong shape: `stdout` is missing"),
        (
            "context.extra",
            {"task": {}},
            {"extras": "text", "reason": REASON},
            "wrong shape: `extras` must be an array, not a string",
        ),
    ],
)
def test_an_answer_of_the_wrong_shape_keeps_its_reason(
    event: str, fields: dict[str, Any], answer: dict[str, Any], message: str
) -> None:
    fired = fire(Recorder(event, returns=answer), event, **fields)
    call = fired.calls[0]
    assert (call.outcome, call.message) == (Outcome.BAD_OUTPUT, f"{message}; its reason: {REASON}")


def test_a_misspelt_verdict_of_a_strict_handler_keeps_its_reason() -> None:
    guard = Recorder("PreAbilityCall", returns={"decison": "deny", "reason": REASON}, role="guard")
    fired = fire(guard, "PreAbilityCall", ability_id="shell")
    assert fired.denied
    assert fired.reason.count(REASON) == 1


def test_the_reason_of_a_handler_that_exits_with_an_error_is_kept(
    samuel_project: SamuelProject, sh: Callable[[str, str], str]
) -> None:
    body = f"""echo '{{"ok": false, "reason": "{REASON}"}}'; exit 3"""
    samuel_project.hook("check", sh("before:iteration", body))
    fired = samuel_project.fire("before:iteration", task={})
    call = next(call for call in fired.calls if call.handler.name == "check")
    assert (call.outcome, call.message) == (Outcome.CRASHED, f"exit code 3; its reason: {REASON}")
