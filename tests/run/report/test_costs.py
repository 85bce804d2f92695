"""What an iteration costs: attempts, iterations, failures in a row, budgets; and who works on after trouble."""

from __future__ import annotations

from typing import Any

import pytest
from tests.run.conftest import GOOD, LoopProject

import samuel
from samuel.attempt.stop import Stop
from samuel.base.clock import FakeClock
from samuel.history.budgets import NOTHING_ADDED, AddedBudget
from samuel.history.notices import AgentChanged, IterationSettled, QuestionAsked, RunResumed, WaitStarted
from samuel.history.run import Run

START = 1_750_000_000  # of a FakeClock
SPEAKER = '[agents.speaker]\ncommand = ["./speaker.sh", "{prompt_file}"]\nstream = "claude"\n'
# The stream of Claude Code, as far as it matters here.
RESULT = """printf '{"type": "result", "subtype": "success", "is_error": false, "result": "done", '
printf '"usage": {"input_tokens": 10, "output_tokens": 5}}\\n'
"""
LIMITED = f"""printf '{{"type": "rate_limit_event", "rate_limit_info": '
printf '{{"status": "rejected", "resetsAt": {START + 60}}}}}\\n'
printf '{{"type": "result", "subtype": "success", "is_error": true, "result": "usage limit reached"}}\\n'
exit 1
"""
LIMITED_ONCE = f'if [ "$SAMUEL_ITERATION" = 1 ]; then\n{LIMITED}fi\n{GOOD}{RESULT}'


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def attempts(loop: LoopProject) -> dict[str, int]:
    return {task.id: task.attempts for task in loop.store.load()}


def run_with(
    loop: LoopProject, *agents: str, added: AddedBudget = NOTHING_ADDED, most: int = 10, **more: Any
) -> Run:
    with loop.open(**more) as app:
        return app.loop(Stop()).run(most, agents, added)


class TestQuestions:
    ASKS = 'echo half > half.txt\nsamuel run ask "tabs or spaces?"\n'

    def test_a_question_parks_its_task_and_costs_no_attempt(self, loop: LoopProject) -> None:
        loop.configure("max_task_attempts = 1\nmax_consecutive_failures = 1")
        loop.tasks("1")
        loop.agent(self.ASKS)
        run = loop.run()
        assert (run.exit_reason, run.consec_fails, outcomes(loop)) == ("waiting", 0, ["asked"])
        assert (loop.statuses(), attempts(loop)) == ({"1": "waiting"}, {"1": 0})
        questions = [report.question for report in loop.reports if isinstance(report, QuestionAsked)]
        assert questions == ["tabs or spaces?"]

    @pytest.mark.slow
    def test_other_tasks_go_on_without_what_the_parked_one_left(self, loop: LoopProject) -> None:
        loop.tasks("1", "2")
        loop.agent(f'if [ "$SAMUEL_TASK_ID" = 1 ]; then\n{self.ASKS}else\ntest ! -e half.txt\n{GOOD}fi\n')
        run = loop.run()
        assert (run.exit_reason, outcomes(loop)) == ("waiting", ["asked", "completed"])
        assert not (loop.root / "half.txt").exists()


class TestTrouble:
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock(START)

    @pytest.fixture
    def limited(self, loop: LoopProject) -> LoopProject:
        """A project whose agent is at its limit in the first iteration, for a minute."""
        loop.configure("", SPEAKER)
        loop.agent(LIMITED_ONCE, "speaker")
        loop.tasks("1", "2")
        return loop

    def test_a_limit_is_waited_out_and_uses_up_neither_attempts_nor_iterations(
        self, limited: LoopProject, clock: FakeClock
    ) -> None:
        run = run_with(limited, "speaker", most=1, clock=clock)
        assert (run.exit_reason, outcomes(limited)) == ("max_iterations", ["limited", "completed"])
        assert (run.iterations_run, run.counted_iterations, run.succeeded) == (2, 1, 1)
        assert attempts(limited) == {"1": 0, "2": 0}
        waits = [report for report in limited.reports if isinstance(report, WaitStarted)]
        assert [wait.agent for wait in waits] == ["speaker"]
        assert clock.now() >= waits[0].until >= START + 60

    @pytest.mark.slow
    def test_the_second_agent_takes_over_and_the_first_one_comes_back_after_its_reset(
        self, limited: LoopProject, clock: FakeClock
    ) -> None:
        agents: list[str] = []

        @samuel.hook("after:iteration")
        def pass_time(event: Any) -> None:
            agents.append(event.context["State"]["Agent"])
            if len(agents) == 2:
                clock.sleep(120)

        limited.agent(GOOD, "other")
        run = run_with(limited, "speaker", "other", clock=clock, handlers=[pass_time])
        assert (run.exit_reason, agents) == ("queue_empty", ["speaker", "other", "speaker"])
        assert outcomes(limited) == ["limited", "completed", "completed"]
        assert run.waits == {}
        assert [report.agent for report in limited.reports if isinstance(report, AgentChanged)] == ["other"]

    @pytest.mark.parametrize(
        ("decision", "outcome", "status"),
        [
            (GOOD, "completed", "completed"),
            ("samuel run ask which\n", "asked", "waiting"),
            ("samuel run skip 1 --reason no\n", "incomplete", "skipped"),
        ],
    )
    def test_what_the_agent_decided_before_the_limit_counts(
        self, limited: LoopProject, clock: FakeClock, decision: str, outcome: str, status: str
    ) -> None:
        limited.agent(decision + LIMITED, "speaker")
        limited.tasks("1")
        run_with(limited, "speaker", clock=clock)
        assert (outcomes(limited), limited.statuses()) == ([outcome], {"1": status})


class TestStopRequest:
    @pytest.mark.parametrize(
        ("agent", "outcome", "cost"), [(GOOD, "completed", 0), ("echo broken > x\nexit 7\n", "agent_failed", 1)]
    )
    def test_an_attempt_whose_agent_has_started_is_finished_and_counts(
        self, loop: LoopProject, agent: str, outcome: str, cost: int
    ) -> None:
        loop.tasks("1", "2")
        loop.agent(agent)
        stop = Stop()

        @samuel.hook("after:agent.invoke")
        def wish(event: Any) -> None:
            stop.requested = True

        run = loop.run(stop=stop, handlers=[wish])
        assert (run.exit_reason, run.iterations_run, outcomes(loop)) == ("interrupted", 1, [outcome])
        assert attempts(loop) == {"1": cost, "2": 0}
        assert loop.statuses()["2"] == "pending"


class TestFailuresInARow:
    SETTINGS = "max_task_attempts = 2\nmax_consecutive_failures = 2"

    @pytest.mark.slow
    def test_tasks_that_were_given_up_count_and_not_their_attempts(self, loop: LoopProject) -> None:
        loop.configure(self.SETTINGS)
        loop.tasks("1", "2", "3")
        loop.agent("exit 7\n")
        run = loop.run()
        assert (run.exit_reason, run.iterations_run, run.consec_fails) == ("consecutive_failures", 4, 2)
        assert loop.statuses() == {"1": "blocked", "2": "blocked", "3": "pending"}

    @pytest.mark.slow
    def test_a_completed_task_ends_the_row(self, loop: LoopProject) -> None:
        loop.configure(self.SETTINGS)
        loop.tasks("1", "2", "3")
        loop.agent(f'if [ "$SAMUEL_TASK_ID" != 2 ]; then exit 7; fi\n{GOOD}')
        run = loop.run()
        assert (run.exit_reason, run.consec_fails) == ("tasks_blocked", 1)
        assert loop.statuses() == {"1": "blocked", "2": "completed", "3": "blocked"}


class TestBudgets:
    @pytest.fixture
    def spender(self, loop: LoopProject) -> LoopProject:
        """A project whose budget is used up by its first task."""
        loop.configure("max_tokens = 15", SPEAKER)
        loop.agent(GOOD + RESULT, "speaker")
        loop.tasks("1", "2")
        return loop

    @pytest.mark.slow
    def test_a_run_that_a_budget_ended_goes_on_as_the_same_run(self, spender: LoopProject) -> None:
        first = run_with(spender, "speaker")
        assert (first.exit_reason, outcomes(spender)) == ("budget", ["completed"])
        assert first.budget_hit == "`max_tokens`: 15 of 15 tokens are used"
        spender.reports.clear()
        second = run_with(spender, "speaker", added=AddedBudget(tokens=100))
        assert (second.run_id, second.exit_reason) == (first.run_id, "queue_empty")
        assert (second.iterations_run, second.usage["input_tokens"]) == (2, 20)
        assert [report.run_id for report in spender.reports if isinstance(report, RunResumed)] == [first.run_id]

    def test_it_ends_again_at_once_if_nothing_is_added(self, spender: LoopProject) -> None:
        first = run_with(spender, "speaker")
        second = run_with(spender, "speaker")
        assert (second.run_id, second.exit_reason, second.iterations_run) == (first.run_id, "budget", 1)

    @pytest.mark.slow
    def test_its_iterations_are_counted_from_where_it_goes_on(self, spender: LoopProject) -> None:
        run_with(spender, "speaker")
        run = run_with(spender, "speaker", most=1, added=AddedBudget(tokens=100))
        assert (run.exit_reason, run.iterations_run) == ("queue_empty", 2)
