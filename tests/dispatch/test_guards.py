"""PreAbilityCall and UserPromptSubmit: rewrites, guards and verdicts."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec import UNSET

import samuel
from samuel.dispatch.record import Fired
from samuel.hooks.handler import Outcome
from samuel.testing import Recorder, SamuelProject, fire

Result = Mapping[str, Any] | None
PRE = "PreAbilityCall"


@pytest.fixture
def call(samuel_project: SamuelProject) -> Callable[..., Fired]:
    def call(*handlers: Callable[..., Any], ask: Callable[[str], bool] | None = None, **fields: Any) -> Fired:
        with samuel_project.open(handlers=handlers, ask=ask) as app:
            return app.fire(PRE, ability_id="shell", **{"tool_input": {"trail": []}, **fields})

    return call


def rewriter(name: str, **more: Any) -> Recorder:
    def rewrite(event: Any) -> Result:
        return {"tool_input": {"trail": [*event.tool_input["trail"], name]}}

    return Recorder(PRE, name=name, returns=rewrite, **more)


class TestRewriteThenGuard:
    def test_both_rewrites_arrive_and_the_guard_judges_the_final_input(self, call: Callable[..., Fired]) -> None:
        guard = Recorder(PRE, name="guard", role="guard", order=1, returns={"decision": "allow"})
        first = rewriter("one", role="rewrite", order=2)
        second = rewriter("two", role="rewrite", order=3)
        fired = call(second, guard, first)
        assert fired.result["tool_input"] == {"trail": ["one", "two"]}
        assert [event.tool_input for event in guard.events] == [{"trail": ["one", "two"]}]
        assert guard.events[0].phase == "guard"
        assert [len(handler.events) for handler in (first, second)] == [1, 1]
        assert fired.ok

    def test_handlers_that_ran_before_the_last_rewrite_are_called_once_more(
        self, call: Callable[..., Fired]
    ) -> None:
        before = Recorder(PRE, name="before", order=1)
        first, second = rewriter("one", order=2), rewriter("two", order=3)
        after = Recorder(PRE, name="after", order=4)
        fired = call(before, first, second, after)
        phases = {
            handler.__name__: [(event.phase is not UNSET, event.tool_input["trail"]) for event in handler.events]
            for handler in (before, first, second, after)
        }
        assert phases == {
            "before": [(False, []), (True, ["one", "two"])],
            "one": [(False, []), (True, ["one", "two"])],
            "two": [(False, ["one"])],
            "after": [(False, ["one", "two"])],
        }
        assert fired.result["tool_input"] == {"trail": ["one", "two"]}
        assert [(handler_call.handler.name, handler_call.phase) for handler_call in fired.calls] == [
            ("before", ""),
            ("one", ""),
            ("two", ""),
            ("after", ""),
            ("before", "guard"),
            ("one", "guard"),
        ]

    def test_a_rewrite_in_the_guard_phase_is_ignored_with_a_warning(self, call: Callable[..., Fired]) -> None:
        fired = call(rewriter("one", order=1), rewriter("two", order=2))
        assert fired.result["tool_input"] == {"trail": ["one", "two"]}
        assert fired.warnings == ("`one` `tool_input` ignored: the input is final now",)
        sneaky = Recorder(PRE, name="sneaky", role="guard", returns={"tool_input": {"trail": ["sneaked in"]}})
        fired = call(sneaky)
        assert "tool_input" not in fired.result
        assert "`sneaky` `tool_input` ignored" in fired.warnings[0]

    def test_an_observer_sees_the_final_input_and_cannot_rewrite(self, call: Callable[..., Fired]) -> None:
        observer = Recorder(PRE, name="observer", role="observe", order=1, returns={"tool_input": {}})
        fired = call(observer, rewriter("one", order=2))
        assert [event.tool_input["trail"] for event in observer.events] == [["one"]]
        assert fired.result["tool_input"] == {"trail": ["one"]}

    @pytest.mark.parametrize(
        "answer",
        [{"ok": False, "tool_input": {"trail": ["evil"]}}, {"error": "oh", "tool_input": {"trail": ["evil"]}}],
        ids=["not ok", "error"],
    )
    def test_a_rewrite_of_a_failed_handler_is_neither_shown_to_guards_nor_in_the_result(
        self, call: Callable[..., Fired], answer: Result
    ) -> None:
        guard = Recorder(PRE, name="guard", role="guard")
        fired = call(Recorder(PRE, name="failed", returns=answer), guard)
        assert guard.events[0].tool_input == {"trail": []}
        assert fired.result.get("tool_input", {"trail": []}) == {"trail": []}

    def test_a_null_tool_input_is_not_a_rewrite(self, call: Callable[..., Fired]) -> None:
        fired = call(Recorder(PRE, name="null", returns={"tool_input": None}), rewriter("one", order=1))
        assert fired.result["tool_input"] == {"trail": ["one"]}

    def test_a_denial_of_an_earlier_input_stands(self, call: Callable[..., Fired]) -> None:
        allow, deny = {"decision": "allow", "reason": "fine now"}, {"decision": "deny", "reason": "no trail"}
        picky = Recorder(PRE, name="picky", order=1, returns=lambda e: allow if e.tool_input["trail"] else deny)
        fired = call(picky, rewriter("one", order=2))
        assert fired.denied
        assert fired.reason == fired.result["reason"] == "no trail"

    @pytest.mark.slow
    def test_rewrites_and_guards_of_real_processes(
        self, samuel_project: SamuelProject, py: Callable[[str, str], str]
    ) -> None:
        """The same with files: an executable of another dialect, a Python hook, and a guard."""
        samuel_project.hook(
            "one",
            py(
                "before_tool_call",
                "import json\ne = json.load(sys.stdin)\n"
                "print(json.dumps({'input': {'trail': e['tool_input']['trail'] + ['one']}}))",
            ),
        )
        samuel_project.python_hook(
            "two",
            """
            import samuel

            @samuel.hook("pre_ability_call", role="rewrite")
            def two(event):
                return {"tool_input": {"trail": [*event.tool_input["trail"], "two"]}}
            """,
        )
        samuel_project.python_hook(
            "guard",
            """
            import samuel

            @samuel.hook("PreAbilityCall", role="guard", order=1)
            def guard(event):
                return {"decision": "deny", "reason": ",".join(event.tool_input["trail"])}
            """,
        )
        fired = samuel_project.fire(PRE, ability_id="shell", tool_input={"trail": []})
        assert fired.result["tool_input"] == {"trail": ["one", "two"]}
        assert (fired.denied, fired.reason) == (True, "one,two")


class TestVerdicts:
    @pytest.mark.parametrize(
        ("decisions", "decision"),
        [
            (["allow", "ask", "deny"], "deny"),
            (["deny", "allow"], "deny"),
            (["allow", None], "allow"),
            ([None, None], None),
        ],
    )
    def test_deny_wins_over_ask_and_ask_over_allow(
        self, call: Callable[..., Fired], decisions: list[str | None], decision: str | None
    ) -> None:
        handlers = [
            Recorder(PRE, name=f"h{n}", returns={"decision": decision} if decision else None)
            for n, decision in enumerate(decisions)
        ]
        fired = call(*handlers)
        assert fired.result.get("decision") == decision
        assert fired.stopped is fired.denied is (decision == "deny")

    def test_ask_denies_when_no_user_can_be_asked(self, call: Callable[..., Fired]) -> None:
        fired = call(Recorder(PRE, returns={"decision": "ask", "reason": "sure?"}))
        assert fired.denied
        assert fired.stopped
        assert "sure?" in fired.reason
        assert "no user could be asked" in fired.reason

    @pytest.mark.parametrize("answer", [True, False])
    def test_ask_asks_the_user_whose_reply_decides(self, call: Callable[..., Fired], answer: bool) -> None:
        questions: list[str] = []

        def ask(question: str) -> bool:
            questions.append(question)
            return answer

        fired = call(Recorder(PRE, returns={"decision": "ask", "reason": "sure?"}), ask=ask)
        assert questions == ["sure?"]
        assert fired.denied is not answer
        assert fired.ok is answer

    def test_the_user_is_not_asked_about_a_call_that_is_denied_anyway(self, call: Callable[..., Fired]) -> None:
        def ask(question: str) -> bool:
            raise AssertionError(question)

        no = Recorder(PRE, name="no", returns={"blocked": True, "reason": "no"})
        assert call(Recorder(PRE, returns={"decision": "ask"}), no, ask=ask).denied

    @pytest.mark.parametrize("role", ["guard", None])
    def test_a_denial_counts_though_the_handler_is_not_strict(
        self, call: Callable[..., Fired], role: str | None
    ) -> None:
        fired = call(Recorder(PRE, strict=False, role=role, returns={"decision": "deny", "reason": "because"}))
        assert fired.calls[0].outcome is Outcome.DENIED
        assert (fired.denied, fired.stopped, fired.ok, fired.reason) == (True, True, False, "because")

    def test_an_error_that_begins_with_blocked_denies(self, call: Callable[..., Fired]) -> None:
        assert call(Recorder(PRE, returns={"error": "blocked: policy 7"})).reason == "blocked: policy 7"

    @pytest.mark.parametrize(
        "fault",
        [lambda e: 1 / 0, lambda e: ["no", "object"], lambda e: {"ok": False}, lambda e: {"decision": "maybe"}],
    )
    def test_a_guard_that_fails_denies(self, call: Callable[..., Fired], fault: Callable[..., Any]) -> None:
        fired = call(
            Recorder(PRE, name="guard", role="guard", returns=fault), Recorder(PRE, returns={"decision": "allow"})
        )
        assert fired.denied
        assert fired.stopped
        assert "a guard that fails denies" in fired.reason

    @pytest.mark.parametrize("fault", [lambda e: 1 / 0, lambda e: {"ok": False}])
    def test_a_handler_that_is_not_a_guard_and_fails_does_not_deny(
        self, call: Callable[..., Fired], fault: Callable[..., Any]
    ) -> None:
        fired = call(Recorder(PRE, name="careless", returns=fault))
        assert not fired.denied
        assert len(fired.warnings) == 1
        assert fired.warnings[0].endswith("; the call goes on, because `careless` is not strict")

    def test_a_fault_on_a_prompt_that_is_not_denied_says_that_the_prompt_is_sent(self) -> None:
        careless = samuel.hook("UserPromptSubmit")(lambda event: {"ok": False, "reason": "no"})
        fired = fire(careless, "UserPromptSubmit", user_message="hello")
        assert fired.warnings == (
            f"`{fired.calls[0].handler.name}` failed: no; the prompt is sent, "
            f"because `{fired.calls[0].handler.name}` is not strict",
        )

    @pytest.mark.parametrize("verdict", ["deny", "ask"])
    def test_a_fault_beside_a_verdict_does_not_say_that_the_call_goes_on(
        self, call: Callable[..., Fired], verdict: str
    ) -> None:
        careless = Recorder(PRE, name="careless", returns={"ok": False, "reason": "no"})
        judge = Recorder(PRE, name="judge", returns={"decision": verdict, "reason": "really?"})
        fired = call(careless, judge, ask=lambda question: None)
        assert "`careless` failed: no" in fired.warnings
        assert "goes on" not in "".join(fired.warnings)

    @pytest.mark.parametrize("answer", [{"decision": "deny"}, {"blocked": True}])
    @pytest.mark.parametrize("event", ["SessionStart", "before:iteration"])
    def test_a_denial_of_an_event_that_cannot_be_denied_is_a_warning(
        self, event: str, answer: dict[str, Any]
    ) -> None:
        fields = {"task": {}} if event == "before:iteration" else {}
        fired = fire(samuel.hook(event)(lambda event: answer), event, **fields)
        assert fired.ok
        assert not fired.denied
        assert f"returned deny, but `{event}` cannot be denied" in fired.warnings[0]

    @pytest.mark.parametrize("answer", [{"decision": "deny"}, {"blocked": True}, {"error": "blocked_by_policy"}])
    def test_a_denial_by_a_strict_handler_stops_an_event_that_cannot_be_denied(
        self, answer: dict[str, Any]
    ) -> None:
        fired = fire(samuel.hook("SessionStop", strict=True)(lambda event: answer), "SessionStop")
        assert fired.stopped
        assert not {"decision", "blocked"} & set(fired.result)

    def test_a_denial_does_not_stop_a_turn_end(self) -> None:
        @samuel.hook("TurnEnd")
        def no(event: object) -> Result:
            return {"decision": "deny"}

        fired = fire(no, "TurnEnd", response="", turn_number=1)
        assert not fired.stopped


class TestFinishingOrders:
    """Concurrent handlers may finish in any order; the result does not depend on it."""

    COUNT = 6
    ROUNDS = 1000

    @pytest.mark.slow
    def test_concurrent_handlers_give_the_same_result_in_1000_finishing_orders(
        self, samuel_project: SamuelProject
    ) -> None:
        turns: list[int] = []  # whose turn it is to finish, first to last
        moved = threading.Condition()
        finished: list[int] = []

        def make(number: int) -> Recorder:
            def answer(event: Any) -> Result:
                with moved:
                    assert moved.wait_for(lambda: turns[len(finished)] == number, 10)
                    finished.append(number)
                    moved.notify_all()
                return {
                    "messages_to_user": [str(number)],
                    "logs": [{"level": "info", "message": str(number)}],
                    "suggested_abilities": [{"id": "x", "confidence": 0.5, "reason": str(number)}],
                    "new_intent": {"intent": str(number)},
                    "decision": ("allow", "deny", "ask")[number % 3],
                    "reason": str(number),
                    "unknown": number,
                    **({"error": str(number)} if number == 3 else {}),
                }

            return Recorder("UserPromptSubmit", name=f"h{number}", returns=answer)

        orders = random.Random(7)
        orders_seen = set()
        outcomes: list[tuple[Any, ...]] = []
        with samuel_project.open(handlers=[make(number) for number in range(self.COUNT)]) as app:
            for _ in range(self.ROUNDS):
                finished.clear()
                turns[:] = orders.sample(range(self.COUNT), self.COUNT)
                fired = app.fire("UserPromptSubmit", user_message="hello")
                assert finished == turns
                orders_seen.add(tuple(finished))
                calls = [(call.handler.name, call.outcome, call.message) for call in fired.calls]
                outcomes.append((fired.result, fired.reason, fired.warnings, calls))
        assert len(orders_seen) > 500
        assert all(outcome == outcomes[0] for outcome in outcomes)
        result, reason, _, _ = outcomes[0]
        assert (result["decision"], reason) == ("deny", "1")
        assert result["messages_to_user"] == [str(number) for number in range(self.COUNT)]
        assert result["suggested_abilities"][0]["reason"] == "0"

    def test_handlers_of_a_merge_event_run_at_the_same_time(self, samuel_project: SamuelProject) -> None:
        together = threading.Barrier(5, timeout=300)
        handlers = [
            Recorder("TurnEnd", name=f"h{n}", returns=lambda event: {"met": together.wait() >= 0})
            for n in range(5)
        ]
        with samuel_project.open(handlers=handlers) as app:
            fired = app.fire("TurnEnd", response="", turn_number=1)
        assert {call.outcome for call in fired.calls} == {Outcome.OK}

    def test_concurrent_handlers_see_no_previous_result(self, samuel_project: SamuelProject) -> None:
        slow = Recorder("TurnEnd", name="a", returns=lambda event: {"x": [1]})
        late = Recorder("TurnEnd", name="b", returns=lambda event: time.sleep(0.05) or {"x": [2]})
        with samuel_project.open(handlers=[slow, late]) as app:
            fired = app.fire("TurnEnd", response="", turn_number=1)
        assert late.events[0].previous is UNSET
        assert fired.result["x"] == [1, 2]
