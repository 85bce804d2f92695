"""Events without a handler, or with a handler that returns little: a clear outcome, never a crash."""

from __future__ import annotations

from typing import Any

import pytest

import samuel
from samuel.attempt.stop import Stop
from samuel.history.notices import IterationFailed
from samuel.testing import Recorder

from .conftest import LoopProject


def failures(loop: LoopProject) -> list[tuple[str, str]]:
    return [(report.outcome, report.why) for report in loop.reports if isinstance(report, IterationFailed)]


def no_handlers(*events: str) -> str:
    return "".join(f'[hooks."{event}"]\nhandlers = []\n' for event in events)


def test_without_a_handler_of_agent_invoke_the_agent_failed_and_no_attempt_is_counted(loop: LoopProject) -> None:
    loop.configure(more=no_handlers("agent.invoke"))
    loop.tasks("1")
    run = loop.run()
    why = "no handler runs on `agent.invoke`; `samuel hooks explain agent.invoke` shows why"
    assert (run.exit_reason, failures(loop)) == ("consecutive_failures", [("agent_failed", why)] * 3)
    task = loop.store.load()[0]
    assert (task.status, task.attempts) == ("pending", 0)


@pytest.mark.parametrize("answer", [{}, None, {"stdout": "x"}, {"exit_code": "0"}])
def test_an_agent_that_gives_no_exit_code_has_failed(loop: LoopProject, answer: Any) -> None:
    loop.tasks("1")
    loop.run(1, handlers=[Recorder("agent.invoke", returns=answer)])
    ((outcome, why),) = failures(loop)
    assert (outcome, "bad_output" in why) == ("agent_failed", True)


def test_without_any_handler_of_any_event_the_loop_aborts_for_want_of_a_prompt(loop: LoopProject) -> None:
    loop.configure(more=no_handlers(*samuel.events.names.LOOP))
    loop.tasks("1")
    run = loop.run(1)
    assert failures(loop) == [("aborted", "there is no prompt: its text is empty")]
    assert (run.exit_reason, run.iterations_run) == ("max_iterations", 1)


class TestGate:
    def test_the_loop_goes_on_without_a_handler_of_the_gate(self, loop: LoopProject) -> None:
        loop.configure(more=no_handlers("iteration.gate"))
        loop.tasks("1")
        assert loop.run().exit_reason == "queue_empty"
        assert loop.statuses() == {"1": "completed"}

    @pytest.mark.parametrize("mode", [{}, {"mode": None}, {"mode": "impl"}, {"mode": "implementation"}])
    def test_a_gate_may_leave_out_the_mode_or_abbreviate_it(self, loop: LoopProject, mode: dict[str, Any]) -> None:
        loop.tasks("1")
        recorder = Recorder("after:iteration")
        run = loop.run(handlers=[Recorder("iteration.gate", returns={"continue": True, **mode}), recorder])
        assert (run.exit_reason, loop.statuses()) == ("queue_empty", {"1": "completed"})
        assert [event.mode for event in recorder.events] == ["implementation"]

    def test_a_gate_without_a_mode_means_implementation_also_after_a_discovery(self, loop: LoopProject) -> None:
        loop.tasks("1", "2", "3")
        modes = {1: {"mode": "discovery"}}
        gate = Recorder(
            "iteration.gate", returns=lambda event: {"continue": True, **modes.get(event.iteration, {})}
        )
        recorder = Recorder("before:iteration", "after:iteration")
        loop.run(2, handlers=[gate, recorder])
        assert [event.mode for event in recorder.events] == [
            *("implementation", "discovery"),
            *("implementation", "implementation"),
        ]

    def test_one_that_is_not_strict_and_fails_lets_the_loop_go_on_with_a_warning(self, loop: LoopProject) -> None:
        loop.configure(more='[hooks."iteration.gate"]\nstrict = false\n')
        loop.tasks("1")

        @samuel.hook("iteration.gate")
        def broken(event: Any) -> dict[str, Any]:
            raise RuntimeError("oh no")

        run = loop.run(handlers=[broken])
        assert (run.exit_reason, loop.statuses()) == ("queue_empty", {"1": "completed"})
        assert "[hooks.warning] iteration.gate plugin=broken hook=broken crashed: RuntimeError: oh no" in (
            loop.progress()
        )


class TestEmptyPrompt:
    def test_no_agent_starts_without_a_prompt(self, loop: LoopProject) -> None:
        loop.configure(more=no_handlers("before:agent.invoke"))
        loop.tasks("1")
        loop.run(1)
        assert failures(loop) == [("aborted", "there is no prompt: its text is empty")]
        assert not (loop.root / "seen-1.md").exists()
        assert loop.store.load()[0].attempts == 0

    @pytest.mark.parametrize("prompt", ["", " \n\t"])
    def test_no_agent_starts_if_a_handler_empties_the_prompt(self, loop: LoopProject, prompt: str) -> None:
        loop.tasks("1")
        loop.run(1, handlers=[Recorder("before:agent.invoke", returns={"prompt": prompt})])
        assert failures(loop) == [("aborted", "there is no prompt: its text is empty")]
        assert not (loop.root / "seen-1.md").exists()

    def test_a_dry_run_says_that_there_is_no_prompt(self, loop: LoopProject) -> None:
        loop.configure(more=no_handlers("before:agent.invoke"))
        loop.tasks("1")
        with loop.open() as app:
            data = app.loop(Stop(), dry_run=True).dry_run("mine")
        assert data["stopped"] == "aborted: there is no prompt: its text is empty"

    def test_firing_agent_invoke_with_an_empty_prompt_starts_no_agent(self, loop: LoopProject) -> None:
        with loop.open() as app:
            fired = app.fire("agent.invoke", agent="mine", prompt=" ")
        assert (fired.stopped, "the prompt is empty" in fired.reason) == (True, True)
        assert not (loop.root / "seen-0.md").exists()


def test_firing_agent_invoke_without_a_handler_is_not_ok(loop: LoopProject) -> None:
    loop.configure(more=no_handlers("agent.invoke"))
    with loop.open() as app:
        fired = app.fire("agent.invoke", agent="mine", prompt="x")
    assert (fired.ok, fired.stopped, fired.calls) == (False, True, ())
    assert fired.reason.startswith("no handler runs on `agent.invoke`")
