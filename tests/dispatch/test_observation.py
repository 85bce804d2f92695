"""`mode = "observe"`: a handler whose answers are recorded and never used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from samuel.base.errors import UsageError
from samuel.dispatch.record import Fired
from samuel.hooks.handler import Outcome
from samuel.testing import Recorder, SamuelProject

PRE, PROMPT = "PreAbilityCall", "UserPromptSubmit"
DENY = {"decision": "deny", "reason": "no `rm -rf`"}
ASK = {"decision": "ask", "reason": "push now?"}


def crash(event: Any) -> Mapping[str, Any]:
    raise RuntimeError("out of order")


@pytest.fixture
def call(samuel_project: SamuelProject) -> Callable[..., Fired]:
    def call(*handlers: Callable[..., Any], event: str = PRE, **more: Any) -> Fired:
        fields = {"user_message": "hello"} if event == PROMPT else {"ability_id": "shell", "tool_input": {"a": 1}}
        with samuel_project.open(handlers=handlers, **more) as app:
            return app.fire(event, **fields)

    return call


def would(fired: Fired) -> list[tuple[str, str]]:
    return [(call.would.verdict, call.would.reason) for call in fired.calls if call.would]


@pytest.mark.parametrize("event", [PRE, PROMPT])
@pytest.mark.parametrize(
    ("returns", "outcome", "verdict"),
    [
        (DENY, Outcome.OK, ("deny", "no `rm -rf`")),
        ({"blocked": True}, Outcome.OK, ("deny", "denied without a reason")),
        (ASK, Outcome.OK, ("ask", "push now?")),
        ({"decision": "allow"}, Outcome.OK, ("allow", "")),
        ({"messages_to_user": ["careful"]}, Outcome.OK, ("allow", "")),
        (crash, Outcome.CRASHED, ("deny", "crashed: RuntimeError: out of order")),
        ({"decision": 7}, Outcome.BAD_OUTPUT, None),
        (None, Outcome.OK, ("allow", "")),
    ],
)
def test_nothing_of_an_observed_guard_reaches_the_result(
    call: Callable[..., Fired], event: str, returns: Any, outcome: Outcome, verdict: tuple[str, str] | None
) -> None:
    guard = Recorder(event, name="guard", role="guard", mode="observe", returns=returns)
    fired = call(guard, event=event)
    assert len(guard.events) == 1
    assert (fired.ok, fired.stopped, fired.result, fired.reason) == (True, False, {}, "")
    assert [handler_call.outcome for handler_call in fired.calls] == [outcome]
    if verdict is not None:
        assert would(fired) == [verdict]
    else:
        assert would(fired)[0][0] == "deny"
    # A fault is a warning, as that of any handler that is not strict; a verdict is not.
    assert bool(fired.warnings) == (outcome is not Outcome.OK)


def test_the_verdict_of_an_enforced_guard_stands_beside_an_observed_one(call: Callable[..., Fired]) -> None:
    observed = Recorder(PRE, name="observed", mode="observe", returns={"decision": "deny", "reason": "mine"})
    enforced = Recorder(PRE, name="enforced", returns=DENY)
    fired = call(observed, enforced)
    assert fired.denied
    assert fired.reason == "no `rm -rf`"
    assert would(fired) == [("deny", "mine")]


def test_nobody_is_asked_for_an_observed_guard(call: Callable[..., Fired]) -> None:
    questions: list[str] = []

    def ask(question: str) -> bool:
        questions.append(question)
        return True

    assert call(Recorder(PRE, mode="observe", returns=ASK), ask=ask).ok
    assert not questions


def test_a_rewrite_of_an_observed_handler_is_recorded_and_not_applied(call: Callable[..., Fired]) -> None:
    rewriter = Recorder(PRE, name="safe", order=1, mode="observe", returns={"tool_input": {"a": 2}})
    guard = Recorder(PRE, name="guard", role="guard")
    fired = call(rewriter, guard)
    assert fired.result == {}
    assert [event.tool_input for event in guard.events] == [{"a": 1}]
    assert would(fired) == [("rewrite", "")]
    assert fired.calls[0].would is not None
    assert fired.calls[0].would.result == {"tool_input": {"a": 2}}


def test_a_rewrite_that_would_come_too_late_is_not_recorded_as_one(call: Callable[..., Fired]) -> None:
    late = Recorder(PRE, name="late", role="guard", mode="observe", returns={"tool_input": {"a": 2}})
    assert would(call(late)) == [("allow", "")]


def test_an_observed_check_does_not_fail_the_event(samuel_project: SamuelProject) -> None:
    check = Recorder("quality.check", mode="observe", returns={"ok": False, "reason": "ugly"})
    with samuel_project.open(handlers=[check]) as app:
        fired = app.fire("quality.check", commands=["true"], task={})
    assert fired.ok
    assert fired.result["failures"] == []
    assert would(fired) == [("fail", "failed: ugly")]


def test_a_broken_observed_guard_does_not_deny(samuel_project: SamuelProject) -> None:
    script = samuel_project.hook("guard", "#!/bin/sh\n[ $1 = hook ] && echo PreAbilityCall || exit 1\n")
    samuel_project.config('[hooks.PreAbilityCall]\nhandlers = [{ use = "guard", mode = "observe" }]')
    with samuel_project.open() as app:
        app.fire(PRE, ability_id="shell")
    script.chmod(0o644)  # a guard that was asked once keeps its place
    with samuel_project.open() as app:
        fired = app.fire(PRE, ability_id="shell")
    assert fired.ok
    assert [handler_call.outcome for handler_call in fired.calls] == [Outcome.REFUSED]
    assert [verdict for verdict, _ in would(fired)] == ["deny"]


def test_observed_handler_that_once_denied_would_deny_when_it_cannot_run(samuel_project: SamuelProject) -> None:
    """As it does when it is enforced, though it declares no role."""
    script = samuel_project.root / "tools/hook.sh"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\ncat >/dev/null\necho \'{"decision": "deny"}\'\n')
    script.chmod(0o755)
    text = "id: hook\nevent_type: PreAbilityCall\nhandler: {kind: script, command: tools/hook.sh}\n"
    samuel_project.hook("hook.yaml", text, executable=False, where=samuel_project.root / ".system/hooks")
    samuel_project.trust()
    assert samuel_project.fire(PRE, ability_id="shell").denied
    script.write_text("#!/bin/sh\n")  # not what was agreed to
    enforced = samuel_project.fire(PRE, ability_id="shell")
    assert (enforced.denied, enforced.calls[0].outcome) == (True, Outcome.REFUSED)
    samuel_project.config('[hooks.PreAbilityCall]\nhandlers = [{ use = "hook", mode = "observe" }]')
    with samuel_project.open() as app:
        fired = app.fire(PRE, ability_id="shell")
    assert fired.ok
    assert [verdict for verdict, _ in would(fired)] == ["deny"]


def test_an_event_that_needs_one_answer_has_no_observed_handler(samuel_project: SamuelProject) -> None:
    with pytest.raises(UsageError, match=r"`mode` cannot be `observe`: only one handler answers `iteration.gate`"):
        samuel_project.open(handlers=[Recorder("iteration.gate", mode="observe")])
    with pytest.raises(UsageError, match="`mode` must be one of `enforce`, `observe`, not `watch`"):
        samuel_project.open(handlers=[Recorder(PRE, mode="watch")])
