"""The displays of a run, fed with reports of the loop."""

from __future__ import annotations

import io
import re
import shlex
import time
from typing import get_args

import pytest
from rich.console import Console

from samuel.attempt.baseline import FAILED
from samuel.base.wording import clock_time, plural
from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.display.colours import GREEN, RED, YELLOW, colour_of
from samuel.display.line_display import AgentText, JsonDisplay, PlainDisplay
from samuel.display.live_display import LiveDisplay
from samuel.display.notice_lines import LINES, next_steps
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.attempt_record import RunRecord
from samuel.history.cost_summary import cost
from samuel.history.history import RunHistory
from samuel.history.notices import (
    AgentActivity,
    AgentChanged,
    AgentEnded,
    AgentOutputChunk,
    BaselineChecked,
    CheckEnded,
    CheckStarted,
    DiscoveryChosen,
    HandlerMessage,
    IterationFailed,
    IterationSettled,
    IterationStarted,
    LandingParked,
    LaneReport,
    LoopWarning,
    QuestionAsked,
    Report,
    ReviewStarted,
    RunEnded,
    RunRefused,
    RunStarted,
    StepStarted,
    TaskFileUnreadable,
    WaitStarted,
    WorkPutAway,
)
from samuel.report.model import build_report
from samuel.tasks.question import Question
from samuel.tasks.queue import stuck
from samuel.tasks.task import Task

TASK = Task(id="1", title="One")
DISCOVERY = IterationStarted(2, 9, "discovery", None)
NOW = 1736935200.0  # 2025-01-15 10:00 UTC
LOG = ".samuel/run/logs/run-1/iteration-0001.log"


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


class Seconds:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def live_display(seconds: Seconds | None = None) -> LiveDisplay:
    return LiveDisplay(now=lambda: NOW, monotonic=seconds or Seconds())


def picture(display: LiveDisplay) -> list[str]:
    """The lines of the live picture; the last one without its bar."""
    text = io.StringIO()
    renderable = display._picture()
    Console(file=text, width=100).print(renderable)
    *lines, bar = (line.rstrip() for line in text.getvalue().splitlines())
    return [*lines, bar.split(" ", 1)[1].strip()]


def printed(capsys: pytest.CaptureFixture[str], *reports: Report, verbose: bool = False) -> str:
    display = PlainDisplay(verbose, now=lambda: NOW)
    for report in reports:
        display(report)
    return capsys.readouterr().out


class TestLive:
    def test_the_live_picture_of_a_discovery_has_its_own_number_and_not_the_last_task(self) -> None:
        display = live_display()
        for report in (
            RunStarted(("pending",), 9),
            IterationStarted(1, 9, "implementation", TASK),
            StepStarted("quality.check"),
            CheckEnded("make test", True, 1.25),
            IterationSettled("implementation", IterationOutcome.COMPLETED, 0, {}, ("completed",)),
        ):
            display(report)
        assert picture(display) == [
            "1 One",
            "checking  0:00",
            "  `make test`: ok (1.2s)",
            "1/1 task iteration 1/9, 0:00",
        ]
        display(DISCOVERY)
        display(StepStarted("before:agent.invoke"))
        assert picture(display) == [
            "looking for tasks",
            "writing the prompt  0:00",
            "1/1 task iteration 2/9, 0:00",
        ]

    def test_the_live_picture_follows_a_gate_that_chooses_discovery(self) -> None:
        display = live_display()
        display(IterationStarted(1, 9, "implementation", TASK))
        display(DiscoveryChosen())
        assert picture(display)[0] == "looking for tasks"

    def test_the_live_picture_shows_what_the_agent_does_its_time_its_attempt_and_its_cost(self) -> None:
        seconds = Seconds()
        display = live_display(seconds)
        display(RunStarted(("pending", "completed"), 9))
        display(IterationStarted(1, 9, "implementation", Task(id="1", title="One", attempts=1)))
        seconds.now = 5
        display(StepStarted("agent.invoke"))
        seconds.now = 70
        display(AgentActivity("reads src/app.py", {"input_tokens": 1200, "cost_usd": 0.25}))
        assert picture(display) == [
            "1 One (attempt 2)",
            "agent at work  1:05",
            "  reads src/app.py",
            "1/2 tasks iteration 1/9, 1:10 1,200 tokens, $0.25",
        ]
        display(AgentActivity("runs pytest", {}))
        assert picture(display)[2:] == ["  runs pytest", "1/2 tasks iteration 1/9, 1:10 1,200 tokens, $0.25"]

    def test_the_live_picture_shows_the_last_line_of_an_agent_that_prints_text(self) -> None:
        display = live_display()
        display(IterationStarted(1, 9, "implementation", TASK))
        display(StepStarted("agent.invoke"))
        display(AgentOutputChunk(b"first\n\x1b[1msecond\x1b[0m line\n\n"))
        display(AgentOutputChunk(b'{"type": "assistant"}\n', readable=False))
        assert picture(display)[2] == "  second line"

    def test_the_live_picture_adds_the_cost_of_the_agent_to_that_of_the_run_once(self) -> None:
        display = live_display()
        settled = IterationSettled(
            "implementation", IterationOutcome.COMPLETED, 0, {"cost_usd": 1.0}, ("completed",)
        )
        display(settled)
        display(DISCOVERY)
        display(AgentActivity("x", {"cost_usd": 0.5}))
        assert picture(display)[-1].endswith("$1.50")
        display(AgentEnded(0, {"cost_usd": 0.75}, AgentEnding(), LOG))
        assert picture(display)[-1].endswith("$1.75")

    def test_the_result_of_a_check_does_not_stand_under_the_next_attempt(self) -> None:
        display = live_display()
        display(IterationStarted(1, 9, "implementation", TASK))
        display(CheckStarted("make test"))
        assert picture(display)[1] == "running `make test`  0:00"
        display(CheckEnded("make test", False, 0.1))
        display(IterationStarted(2, 9, "implementation", TASK))
        display(StepStarted("agent.invoke"))
        assert picture(display)[1:-1] == ["agent at work  0:00"]

    def test_the_live_picture_shows_until_when_it_waits(self) -> None:
        display = live_display()
        display(WaitStarted("claude", NOW + 2 * 3600 + 65, "usage limit reached"))
        assert picture(display)[1:-1] == ["waiting for claude until 12:01, 2:01:05 left: usage limit reached"]
        display(StepStarted("agent.invoke"))
        assert picture(display)[1:-1] == ["agent at work  0:00"]

    @pytest.mark.parametrize("event", ["before:agent.invoke", "agent.invoke", "SessionStart", "context.snapshot"])
    def test_the_live_picture_has_no_names_of_events(self, event: str) -> None:
        display = live_display()
        display(StepStarted(event))
        assert event not in "\n".join(picture(display))


WHOLE = """\
2 tasks to do, 0 done, at most 9 iterations
baseline: the checks pass
iteration 1/9: 1 One
  agent: rate limited until 17:00 (claude: usage limit reached)
  limited: usage limit reached
  log: .samuel/run/logs/run-1/iteration-0001.log
  waiting for claude until 17:00, 7:00:00 left: usage limit reached
  codex takes over: usage limit reached
iteration 2/9: 1 One
  agent: exit code 0, 1,234 tokens, <$0.01
  check `make lint`: ok (0.1s)
  check `make test`: FAILED (2.0s)
    line 3
    line 4
    line 5
    line 6
    line 7
    line 8
    line 9
    line 10
    line 11
    line 12
  quality_failed: `make test` ended with exit code 2
  log: .samuel/run/logs/run-1/iteration-0002.log
  put away the changes of task 1 (2 files): `samuel run show 1 --diff`
iteration 3/9: 2 Two
  question about task 2: Which colour?
    samuel run answer q1 TEXT
iteration 4/9: 3 Three
  agent: exit code 0
  completed (unverified): no checks are configured; 1 of 3 tasks completed
ended: waiting after 4 iterations; 1 completed (1 unverified), 1 blocked, 1 waiting, 1,234 tokens, <$0.01
  blocked: 1 One (quality_failed: `make test` ended with exit code 2)
    samuel run show 1
    samuel run reset 1
  waiting for your answer: 2 Two
    samuel run answer 2 TEXT
  report: .samuel/run/reports/run-1/report.html
"""


class TestPlain:
    def test_a_whole_night_in_plain_lines(self, capsys: pytest.CaptureFixture[str]) -> None:
        limited = AgentEnding(EndingKind.LIMITED, "usage limit reached", NOW + 7 * 3600)
        usage = {"input_tokens": 1000, "output_tokens": 234, "cost_usd": 0.0007}
        output = "".join(f"line {number}\n" for number in range(1, 13))
        failure = "`make test` ended with exit code 2"
        tasks = (
            Task(id="1", title="One", status="blocked", last_failure=f"quality_failed: {failure}\n{output}"),
            Task(id="2", title="Two", status="waiting"),
            Task(id="3", title="Three", status="completed", grade="unverified"),
        )
        assert (
            printed(
                capsys,
                RunStarted(("pending", "pending"), 9),
                BaselineChecked((), accepted=False),
                IterationStarted(1, 9, "implementation", TASK),
                StepStarted("agent.invoke"),
                AgentActivity("reads src/app.py", {}),
                AgentOutputChunk(b"{}\n", readable=False),
                AgentEnded(1, {}, limited, LOG, agent="claude"),
                IterationFailed(IterationOutcome.LIMITED, "usage limit reached", LOG),
                WaitStarted("claude", NOW + 7 * 3600, "usage limit reached"),
                AgentChanged("codex", "usage limit reached"),
                IterationStarted(2, 9, "implementation", TASK),
                AgentEnded(0, usage, AgentEnding(), LOG.replace("1.log", "2.log")),
                CheckStarted("make lint"),
                CheckEnded("make lint", True, 0.1, "all good"),
                CheckEnded("make test", False, 2.0, output),
                IterationFailed(IterationOutcome.QUALITY_FAILED, f"{failure}\n{output}"),
                WorkPutAway("1", "refs/samuel/run-1/1/3", ("a", "b")),
                IterationStarted(3, 9, "implementation", Task(id="2", title="Two")),
                QuestionAsked("2", "Which colour?", "q1"),
                IterationStarted(4, 9, "implementation", Task(id="3", title="Three")),
                AgentEnded(0, {}, AgentEnding(), LOG),
                IterationSettled(
                    "implementation",
                    *(IterationOutcome.COMPLETED, 0, usage, ("blocked", "waiting", "completed")),
                    grade="unverified",
                ),
                RunEnded(
                    ExitReason.WAITING,
                    4,
                    {"completed": 1, "blocked": 1, "waiting": 1},
                    usage,
                    tasks=tasks,
                    report=".samuel/run/reports/run-1/report.html",
                ),
            )
            == WHOLE
        )

    def test_what_a_discovery_changed_is_named_by_its_ref(self, capsys: pytest.CaptureFixture[str]) -> None:
        report = WorkPutAway("", "refs/samuel/run-1/discovery/1", ("a", "b"))
        line = "  put away what the discovery changed (2 files): git show refs/samuel/run-1/discovery/1\n"
        assert printed(capsys, report) == line

    def test_a_second_attempt_is_named_in_the_header(self, capsys: pytest.CaptureFixture[str]) -> None:
        report = IterationStarted(2, 9, "implementation", Task(id="1", title="One", attempts=1))
        assert printed(capsys, report) == "iteration 2/9: 1 One (attempt 2)\n"

    def test_an_agent_that_failed_shows_the_end_of_its_output(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert printed(
            capsys,
            AgentEnded(1, {}, AgentEnding(EndingKind.CRASHED, "no such model"), LOG),
            IterationFailed(
                IterationOutcome.AGENT_FAILED, "the agent ended with exit code 1\n\x1b[31mtrace\x1b[0m\n"
            ),
        ) == (
            "  agent: exit code 1 (no such model)\n"
            "  agent_failed: the agent ended with exit code 1\n"
            "    trace\n"
            f"  log: {LOG}\n"
        )

    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            (EndingKind.UNAUTHORISED, "not logged in"),
            (EndingKind.OVERLOADED, "its service is overloaded"),
            (EndingKind.UNREACHABLE, "its service cannot be reached"),
            (EndingKind.IDLE, "ended at idle_timeout, without a sign of work"),
            (EndingKind.OVER_BUDGET, "ended, because a budget is used up"),
        ],
    )
    def test_trouble_of_an_agent_is_named(
        self, capsys: pytest.CaptureFixture[str], kind: EndingKind, words: str
    ) -> None:
        assert printed(capsys, AgentEnded(1, {}, AgentEnding(kind, "why"), LOG)) == f"  agent: {words} (why)\n"

    def test_verbose_prints_what_the_agent_does_in_words(self, capsys: pytest.CaptureFixture[str]) -> None:
        reports = (
            AgentActivity("reads src/app.py", {}),
            AgentOutputChunk(b'{"type": "assistant"}\n', readable=False),
            AgentActivity("runs \x1b[31mpytest", {}),
        )
        assert printed(capsys, *reports, verbose=True) == "    reads src/app.py\n    runs pytest\n"
        assert printed(capsys, *reports) == ""

    def test_verbose_prints_what_the_agent_said_once_when_only_its_usage_is_new(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        reports = (AgentActivity("Done.", {}), AgentActivity("Done.", {"cost_usd": 0.1}))
        again = (IterationStarted(2, 9, "implementation", TASK), AgentActivity("Done.", {}))
        assert printed(capsys, *reports, *again, verbose=True) == ("    Done.\niteration 2/9: 1 One\n    Done.\n")

    def test_verbose_prints_a_line_of_a_plain_agent_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        reports = (AgentActivity("Prices", {}, repeats_output=True), AgentOutputChunk(b"Prices\n"))
        assert printed(capsys, *reports, verbose=True) == "Prices\n"

    @pytest.mark.parametrize(
        ("report", "line"),
        [
            (
                RunEnded(ExitReason.BUDGET, 1, {}, {}, message="max_cost_usd is used up"),
                "  go on with more: samuel run start --add-budget 5usd (or 20000tokens)\n",
            ),
            (
                RunEnded(ExitReason.BASELINE_FAILED, 0, {}, {}, message=FAILED),
                "ended: baseline_failed after 0 iterations\n"
                "  fix the checks, or count only what becomes worse: samuel run start --baseline accept\n",
            ),
            (
                RunEnded(ExitReason.BASELINE_FAILED, 0, {}, {}, message="`pytets` cannot run"),
                "ended: baseline_failed after 0 iterations\n"
                "  fix `quality_checks` in samuel.toml, or install what is missing: samuel run start\n",
            ),
        ],
    )
    def test_the_end_names_the_command_that_goes_on(
        self, capsys: pytest.CaptureFixture[str], report: RunEnded, line: str
    ) -> None:
        assert printed(capsys, report).endswith(line)

    def test_the_end_names_five_blocked_tasks_and_counts_the_others(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        tasks = tuple(Task(id=str(number), title="T", status="blocked") for number in range(7))
        lines = printed(
            capsys, RunEnded(ExitReason.TASKS_BLOCKED, 1, {"blocked": 7}, {}, tasks=tasks)
        ).splitlines()
        assert [line for line in lines if "run reset" in line] == [f"    samuel run reset {n}" for n in range(5)]
        assert lines[-1] == "  and 2 more: samuel run tasks --status blocked"

    def test_the_end_does_not_repeat_the_reason_that_was_printed(self, capsys: pytest.CaptureFixture[str]) -> None:
        gated = IterationFailed(IterationOutcome.GATED, "friday")
        ended = RunEnded(ExitReason.GATE_STOP, 0, {}, {}, message="friday")
        assert printed(capsys, gated, ended).count("friday") == 1
        assert printed(capsys, ended).count("friday") == 1

    @pytest.mark.parametrize(
        ("failing", "accepted", "line"),
        [
            (("make test",), False, "baseline: `make test` failed before the first agent; no agent was started\n"),
            (
                ("a", "b"),
                True,
                "baseline: `a`, `b` failed before the first agent; accepted; only what becomes worse",
            ),
        ],
    )
    def test_a_red_baseline_is_named(
        self, capsys: pytest.CaptureFixture[str], failing: tuple[str, ...], accepted: bool, line: str
    ) -> None:
        assert printed(capsys, BaselineChecked(failing, accepted)).startswith(line)


def test_the_json_display_prints_nothing_but_that_the_loop_waits(capsys: pytest.CaptureFixture[str]) -> None:
    display = JsonDisplay()
    for report in (DISCOVERY, LoopWarning("a"), LoopWarning("b"), LoopWarning("a"), HandlerMessage("hello")):
        display(report)
    display(TaskFileUnreadable("line 3: not a row"))
    assert list(display.warnings) == ["a", "b"]
    assert tuple(capsys.readouterr()) == ("", "waiting: the task file cannot be read\nline 3: not a row\n")


def test_a_noun_is_plural_unless_there_is_exactly_one() -> None:
    assert [plural(count, "task") for count in (0, 1, 2)] == ["0 tasks", "1 task", "2 tasks"]


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        ({"cost_usd": 0.0007}, ", <$0.01"),
        ({"cost_usd": 0.006}, ", $0.01"),
        ({"cost_usd": 12.345, "input_tokens": 1000}, ", 1,000 tokens, $12.35"),
        ({"cost_usd": None, "input_tokens": None}, ""),
        ({}, ""),
    ],
)
def test_a_cost_is_never_shown_as_zero(usage: dict[str, float], words: str) -> None:
    assert cost(usage) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (30, "10:00:30"),
        (3600, "11:00"),
        (20 * 3600, "Thu 06:00"),
        (40 * 86400, "2025-02-24 10:00"),
        (1e300, "1e+300"),
    ],
)
def test_a_time_has_what_a_reader_needs_to_place_it(seconds: float, words: str) -> None:
    assert clock_time(NOW + seconds, NOW) == words


def settled(grade: str) -> IterationSettled:
    return IterationSettled("implementation", IterationOutcome.COMPLETED, 0, {}, (), grade)


@pytest.mark.parametrize(
    ("report", "colour"),
    [
        (settled("proven"), GREEN),
        (settled("unverified"), YELLOW),
        (IterationFailed(IterationOutcome.QUALITY_FAILED, ""), RED),
        (IterationFailed(IterationOutcome.LIMITED, ""), YELLOW),
        (CheckEnded("x", False, 0), RED),
        (CheckEnded("x", True, 0), ""),
        (WaitStarted("x", 0, ""), YELLOW),
        (RunEnded(ExitReason.QUEUE_EMPTY, 1, {}, {}), GREEN),
        (RunEnded(ExitReason.TASKS_BLOCKED, 1, {}, {}), RED),
        (RunEnded(ExitReason.WAITING, 1, {}, {}), YELLOW),
        (DISCOVERY, ""),
    ],
)
def test_outcomes_have_colours(report: Report, colour: str) -> None:
    assert colour_of(report) == colour


def test_text_of_an_agent_has_no_control_sequences_however_it_is_cut() -> None:
    output = (
        "a\x1b[1;31mré\x1b[0md\r\nb\x1b]8;;http://x\x1b\\link\x1b]0;title\x07 \x1b(Bc\rd\x1b[2K\x1bMe\n".encode()
    )
    for size in range(1, len(output)):
        text = AgentText()
        pieces = [text.feed(output[start : start + size]) for start in range(0, len(output), size)]
        assert ("".join(pieces), text.last_line) == ("aréd\nblink c\nde\n", "de"), size


def test_text_of_an_agent_is_not_held_back_for_ever() -> None:
    text = AgentText()
    assert sum(len(text.feed(b"\x1b]0;" + b"x" * 2000)) for _ in range(10)) > 10_000


def test_the_end_of_a_run_names_each_question_with_the_command_that_answers_it() -> None:
    questions = (Question(id="q1", text="Which colour?"), Question(id="q2", text="How large?"))
    task = Task(id="2", title="Two", status="waiting", questions=questions)
    assert list(next_steps(RunEnded(ExitReason.WAITING, 1, {}, {}, (task,)))) == [
        "waiting for your answer: 2 Two",
        "  samuel run answer q1 TEXT  (Which colour?)",
        "  samuel run answer q2 TEXT  (How large?)",
    ]


def test_the_end_of_a_run_names_the_command_that_lands_held_back_work() -> None:
    question = Question(id="q1", text="may the work on this task land? needs a look", options=("land",))
    task = Task(id="2", title="Two", status="waiting", questions=(question,))
    assert list(next_steps(RunEnded(ExitReason.WAITING, 1, {}, {}, (task,)))) == [
        "waiting for your answer: 2 Two",
        "  samuel run land 2  (may the work on this task land? needs a look)",
    ]


NASTY = "$(touch${IFS}x)`y`;z"


def test_no_command_that_a_run_offers_runs_the_id_of_a_task() -> None:
    word = shlex.quote(NASTY)
    question = Question(id=NASTY, text="land?", options=("land",))
    other = Question(id=NASTY, text="which?")
    tasks = (
        Task(id=NASTY, title="Blocked", status="blocked", last_failure="no"),
        Task(id=NASTY, title="Waiting", status="waiting", questions=(question, other)),
    )
    display = PlainDisplay()
    lines = [
        display.line(report)
        for report in (
            RunEnded(ExitReason.WAITING, 1, {}, {}, tasks),
            QuestionAsked(NASTY, "which?", NASTY),
            LandingParked(NASTY, "why"),
            WorkPutAway(NASTY, NASTY, ("a",)),
            WorkPutAway("", NASTY, ("a",)),
        )
    ]
    record = RunRecord(run_id="run-1", methodology="ralph", agents=("mine",), started_at=0.0)
    report = build_report(RunHistory(record, ()), tasks, project="shop")
    commands = [command.command for item in report.waiting for command in item.commands]
    offered = [line for line in "\n".join([*lines, stuck(tasks), *commands]).splitlines() if "samuel run" in line]
    offered += [line for line in "\n".join(lines).splitlines() if "git " in line]
    assert len(offered) >= 11
    for line in offered:
        arguments = re.split(r"\b(?:samuel run|git) ", line, maxsplit=1)[1]
        assert word in arguments, line


def test_the_live_display_counts_the_iterations_of_lanes() -> None:
    display = live_display()
    display(RunStarted(("pending",) * 3, 25))
    for lane, iteration in ((1, 1), (2, 2), (1, 3)):
        display(LaneReport(lane, IterationStarted(iteration, 25, "implementation", TASK)))
    assert "iteration 3/25" in picture(display)[-1]


def test_a_long_title_is_shortened_when_its_task_is_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    title = "Charge the card of the customer when the order has left the warehouse"
    first = IterationStarted(1, 9, "implementation", Task(id="1", title=title))
    again = IterationStarted(2, 9, "implementation", Task(id="1", title=title, attempts=1))
    assert printed(capsys, first, again) == (
        f"iteration 1/9: 1 {title}\n"
        "iteration 2/9: 1 Charge the card of the customer when the order ha… (attempt 2)\n"
    )


def test_each_kind_of_report_has_a_line_of_its_own_or_is_handled_by_the_display() -> None:
    by_display = {RunRefused, IterationStarted, AgentEnded, CheckEnded, IterationFailed, RunEnded, WaitStarted}
    by_display |= {AgentActivity, LaneReport}
    silent = {StepStarted, CheckStarted, ReviewStarted, AgentOutputChunk}
    assert {*LINES, *by_display, *silent} == set(get_args(Report))
    assert not set(LINES) & (by_display | silent)
