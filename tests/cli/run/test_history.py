"""`run history`, `run show`, `run log`, `run report` and `run status`: what happened in the runs before."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from samuel.agents.process_files import log_path
from samuel.base.paths import User
from samuel.clients.adapter.ending import EndingKind
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.history.attempt_record import AttemptRecord, ChangedFile, CheckRecord, RunRecord
from samuel.history.availability import AgentWait
from samuel.history.history import History
from samuel.history.run import LanesState, PlaceState, Run
from samuel.history.run_file import RunFile
from samuel.process.live import registered
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

from .conftest import CONFIG, REAL, Workshop

START = 1_750_000_000.0
FIRST = "run-19772a7d400aaaaaaaa000001"
SECOND = "run-19772a99999bbbbbbbb000001"
RED = CheckRecord(command="make test", passed=False, exit_code=2, seconds=3.2, output_tail="E  assert 1 == 2\n")


class Past:
    """A project with two runs in its history."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = root / ".samuel/run"
        self.record = User.from_environment().record(self.state)
        self.history = History.of(self.state, self.record)
        TaskStore(self.state).replace_all(
            [
                Task(id="1", title="Prices", status="completed", grade="checked"),
                Task(id="2", title="Totals", status="blocked", attempts=3, last_failure="`make test` failed"),
                Task(id="3", title="Docs", status="completed", grade="unverified"),
                Task(id="4", title="Mail", status="waiting", last_failure="which address?"),
            ]
        )
        prices = self.attempt(FIRST, 1, "1", cost=0.25, grade="checked")
        self.run(FIRST, START, ExitReason.MAX_ITERATIONS, prices)
        self.run(
            SECOND,
            START + 7200,
            ExitReason.TASKS_BLOCKED,
            self.attempt(
                SECOND, 1, "2", "quality_failed", checks=(RED,), why="`make test` ended with exit code 2"
            ),
            self.attempt(SECOND, 2, "3", grade="unverified", changed_files=(ChangedFile(path="a.md", added=3),)),
        )

    def attempt(
        self,
        run_id: str,
        iteration: int,
        task: str,
        outcome: str = "completed",
        cost: float = 0.0,
        **fields: object,
    ) -> AttemptRecord:
        start = START + 60 * iteration + (7200 if run_id == SECOND else 0)
        return AttemptRecord(
            run_id=run_id,
            iteration=iteration,
            task_id=task,
            title="Prices",
            started_at=start,
            ended_at=start + 30,
            exit_code=0,
            outcome=IterationOutcome(outcome),
            usage={"cost_usd": cost} if cost else {},
            **fields,  # type: ignore[arg-type]
        )

    def run(self, run_id: str, start: float, reason: ExitReason | None, *attempts: AttemptRecord) -> None:
        run = RunRecord(run_id=run_id, methodology="ralph", agents=("mine",), started_at=start)
        self.history.begin(run)
        for attempt in attempts:
            self.history.add(attempt)
        if reason:
            ended = RunRecord(
                run_id=run_id,
                methodology="ralph",
                agents=("mine",),
                started_at=start,
                ended_at=start + 200,
                exit_reason=reason,
            )
            self.history.end(ended)

    def log(self, run_id: str, iteration: int, text: bytes) -> Path:
        path = log_path(self.state, run_id, iteration, "output")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        return path

    def errors(self, run_id: str, iteration: int, text: bytes) -> Path:
        path = log_path(self.state, run_id, iteration, "errors")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        return path


@pytest.fixture
def past(project: Path, monkeypatch: pytest.MonkeyPatch) -> Past:
    return Past(project)


def test_run_history_lists_runs_in_80_columns(samuel, past):
    ran = samuel("run", "history")
    assert ran == (
        0,
        "RUN              BEGAN             TOOK    ENDED           TASKS  COST\n"
        "run-19772a99999  MOMENT  3m 20s  tasks_blocked   1/2    unknown\n"
        "run-19772a7d400  MOMENT  3m 20s  max_iterations  1/1    $0.25\n",
        "",
    )
    first, second = samuel("run", "history", "--json").json["data"]
    assert (first["run_id"], first["exit_reason"], first["tasks"], first["completed"]) == (
        *(SECOND, "tasks_blocked", ["2", "3"], ["3"]),
    )
    assert second["seconds"] == 200
    assert len(samuel("run", "history", "--limit", "1", "--json").json["data"]) == 1


def test_run_history_without_a_run_is_not_an_error(samuel, project):
    assert samuel("run", "history") == (0, "no runs yet\n", "")
    assert samuel("run", "show") == (
        2,
        "",
        "error: there has been no run yet\n`samuel run start` starts one\n",
    )


def test_a_moved_project_says_where_the_reports_of_its_runs_are(samuel, project):
    (project / ".samuel/run/reports/run-1").mkdir(parents=True)
    moved, where = (
        "the record of this project's runs is under its former path",
        "its reports are in `.samuel/run/reports/`",
    )
    assert samuel("run", "history") == (0, f"{moved}; {where}\n", "")
    for command in ("report", "show", "log"):
        assert samuel("run", command) == (2, "", f"error: {moved}\n{where}\n")


def test_run_show_prints_the_attempts_of_a_run(samuel, past):
    past.log(SECOND, 1, b"one\n")
    past.errors(SECOND, 2, b"two\n")
    assert samuel("run", "show", "19772a99").out == (
        f"run    {SECOND}, ralph, mine\n"
        "began  MOMENT, took 3m 20s\n"
        "ended  tasks_blocked: tasks are left, and each of them is blocked or depends on a blocked task\n"
        "cost   unknown\n"
        f"logs   .samuel/run/logs/{SECOND}/iteration-NNNN.log\n"
        "\n"
        "#  TASK  OUTCOME         TOOK  COST     WHY\n"
        "1  2     quality_failed  30s   unknown  `make test` ended with exit code 2\n"
        "2  3     completed       30s   unknown  -\n"
    )
    data = samuel("run", "show", "last", "--json").json["data"]
    assert [attempt["log"] for attempt in data["attempts"]] == [
        f".samuel/run/logs/{SECOND}/iteration-0001.log",
        f".samuel/run/logs/{SECOND}/iteration-0002.err",
    ]
    (first,) = samuel("run", "show", "19772a7d", "--json").json["data"]["attempts"]
    assert first["log"] == ""


def test_run_show_prints_a_task_with_its_attempts_and_checks(samuel, past):
    past.log(SECOND, 1, b"one\n")
    assert samuel("run", "show", "2").out == (
        "task    2 Totals\n"
        "status  blocked\n"
        "why     `make test` failed\n"
        f"log     .samuel/run/logs/{SECOND}/iteration-0001.log\n"
        "\n"
        "RUN              #  OUTCOME         TOOK  COST     WHY\n"
        "run-19772a99999  1  quality_failed  30s   unknown  `make test` ended with …\n"
        "\n"
        "check `make test`: FAILED, exit code 2, 3.2s\n"
        "    E  assert 1 == 2\n"
        "\n"
        "the last words of the agent:\n"
        "    one\n"
    )
    assert samuel("run", "show", "3").out.startswith("task     3 Docs\nstatus   unverified\n")
    assert "question  which address?" in samuel("run", "show", "4").out
    data = samuel("run", "show", "2", "--json").json["data"]
    assert (data["task"]["id"], data["attempts"][0]["outcome"]) == ("2", "quality_failed")


def test_run_show_has_the_last_message_of_the_agent(samuel, past):
    (past.root / "samuel.toml").write_text(f'{CONFIG}stream = "claude"\n')
    past.history.add(past.attempt(SECOND, 3, "2", agent="mine"))
    messages = [
        {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}
        for text in ("looking", "The total was wrong.\n\n\x1b[31mIt\x1b[0m is right now.")
    ]
    tool = {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {}}]}}
    past.log(SECOND, 3, "".join(json.dumps(record) + "\n" for record in (*messages, tool)).encode())

    assert samuel("run", "show", "2").out.endswith(
        "\nthe last words of the agent:\n    The total was wrong.\n\n    It is right now.\n"
    )
    words = samuel("run", "show", "2", "--json").json["data"]["agent_words"]
    assert words.startswith("The total was wrong.\n\n")


@pytest.mark.parametrize("command", ["show", "log"])
def test_an_unknown_run_or_task_is_refused_with_the_nearest(samuel, past, command):
    assert samuel("run", command, "lastt") == (
        2,
        "",
        "error: there is no run and no task `lastt`\n`samuel run history` and `samuel run tasks` list them\n",
    )
    assert samuel("run", "show", "run-19772a7d4aaa").err.endswith(f"did you mean `{FIRST}`?\n")
    assert samuel("run", "report", "run-1977").code == 2
    assert samuel("run", "report", "nothing").err.startswith("error: there is no run `nothing`\n")


def test_run_show_diff_prints_the_commit_or_the_ref_of_a_task(samuel, past):
    def git(*arguments: str) -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
        identity = ("-c", "user.name=You", "-c", "user.email=you@example.org")
        done = subprocess.run(["git", *identity, *arguments], cwd=past.root, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    assert samuel("run", "show", "2", "--diff") == (
        1,
        "",
        "error: task `2` has no commit, and no attempt of it was kept\n"
        "`commit = true` in samuel.toml makes a commit for each task\n",
    )
    git("init", "-q")
    (past.root / "prices.txt").write_text("1\n")
    git("add", "prices.txt")
    git("commit", "-q", "-m", "Prices")
    ref = f"refs/samuel/{SECOND}/2/1"
    git("update-ref", ref, "HEAD")
    past.history.add(past.attempt(SECOND, 1, "2", "quality_failed", ref=ref))
    assert samuel("run", "show", "2", "--diff").out.endswith("@@ -0,0 +1 @@\n+1\n")
    past.history.add(past.attempt(SECOND, 1, "1", "quality_failed", ref=ref))
    assert samuel("run", "show", "1", "--diff").err == (
        "error: task `1` was completed without a commit\n"
        f"`git show {ref}` shows its last failed attempt; "
        "`commit = true` in samuel.toml makes a commit for each task\n"
    )
    past.history.add(past.attempt(SECOND, 2, "3", commit=git("rev-parse", "HEAD")))
    answer = samuel("run", "show", "3", "--diff", "--json").json
    assert answer["data"]["diff"].endswith("+1\n")
    past.history.add(past.attempt(SECOND, 2, "3", commit="--output=/tmp/x"))
    assert samuel("run", "show", "3", "--diff").code == 1
    assert samuel("run", "show", "last", "--diff").code == 2


def test_run_log_prints_the_last_agent_of_a_run_or_a_task(samuel, past):
    past.log(FIRST, 1, b"first\n")
    past.log(SECOND, 1, b"red \x1b[31mcolour\n")
    past.log(SECOND, 2, "Größe \u202e\n".encode())
    assert samuel("run", "log").out == "Größe \\u202e\n"
    assert samuel("run", "log", "19772a7d").out == "first\n"
    assert samuel("run", "log", "2").out == "red \\x1b[31mcolour\n"
    assert samuel("run", "log", "last", "--iteration", "1").out == "red \\x1b[31mcolour\n"
    assert samuel("run", "log", "1", "--json").json["data"] == {
        "run_id": FIRST,
        "iteration": 1,
        "log": f".samuel/run/logs/{FIRST}/iteration-0001.log",
        "text": "first\n",
        "stderr": "",
    }
    raw = subprocess.run([*REAL, "run", "log", "2", "--raw"], cwd=past.root, capture_output=True)
    assert raw.stdout == b"red \x1b[31mcolour\n"


def test_run_log_prints_stderr_of_an_agent_that_wrote_nothing_else(samuel, past):
    past.errors(SECOND, 2, b"no key \x1b[31mset\n")
    assert samuel("run", "log") == (0, "no key \\x1b[31mset\n", "")
    assert samuel("run", "log", "--json").json["data"] == {
        "run_id": SECOND,
        "iteration": 2,
        "log": f".samuel/run/logs/{SECOND}/iteration-0002.err",
        "text": "",
        "stderr": "no key \x1b[31mset\n",
    }
    assert f"log      .samuel/run/logs/{SECOND}/iteration-0002.err\n" in samuel("run", "show", "3").out


def test_run_log_prints_stderr_after_stdout(samuel, past):
    past.log(SECOND, 2, b"working\n")
    past.errors(SECOND, 2, b"deprecated\n")
    assert samuel("run", "log") == (0, "working\n--- stderr ---\ndeprecated\n", "")
    raw = subprocess.run([*REAL, "run", "log", "--raw"], cwd=past.root, capture_output=True)
    assert (raw.stdout, raw.stderr) == (b"working\n", b"deprecated\n")


def test_an_agent_that_fails_at_its_start_has_a_log_that_exists(samuel, workshop: Workshop):
    workshop.agent("echo no key set >&2; exit 3")
    printed = samuel("run", "start", "--yes", "--iterations", "1").out
    (log,) = [line.removeprefix("  log: ") for line in printed.splitlines() if line.startswith("  log: ")]
    assert (workshop.root / log).read_text() == "no key set\n"
    assert samuel("run", "log").out == "no key set\n"
    assert f"log     {log}\n" in samuel("run", "show", "1").out
    (report,) = workshop.root.glob(".samuel/run/reports/*/report.md")
    assert log in report.read_text()


def test_run_log_says_when_there_is_no_log_and_follows_no_link(samuel, past, tmp_path):
    assert samuel("run", "log", "4") == (
        1,
        "",
        "error: no agent has worked on task `4` yet\n`samuel run history` lists the runs\n",
    )
    assert samuel("run", "log", "last") == (
        1,
        "",
        f"error: `.samuel/run/logs/{SECOND}/iteration-0002.log` does not exist\n"
        "the agent wrote nothing, or its log was removed to make room\n",
    )
    (tmp_path / "secret").write_text("secret")
    log = past.log(SECOND, 2, b"")
    log.unlink()
    log.symlink_to(tmp_path / "secret")
    ran = samuel("run", "log", "last")
    assert (ran.code, "secret" in ran.out, "symbolic link" in ran.err) == (2, False, True)


def run_at_work(past: Past, iteration: int, reason: ExitReason | None = None, **fields: object) -> None:
    run = Run(
        run_id=SECOND,
        methodology="ralph",
        agent="mine",
        started_at=START + 7200,
        max_iterations=9,
        iteration=iteration,
        exit_reason=reason,
        **fields,  # type: ignore[arg-type]
    )
    RunFile(past.state, past.record).save(run)


@pytest.mark.slow
def test_run_log_follows_the_agents_until_the_run_ends(past):
    live = User.from_environment().live
    run_at_work(past, 1)
    log = past.log(SECOND, 1, b"one\n")
    with registered(live, SECOND):
        command = [*REAL, "run", "log", "-f"]
        process = subprocess.Popen(
            command, cwd=past.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "one\n"
        with log.open("ab") as file:
            file.write(b"more\n")
        assert process.stdout.readline() == "more\n"
        past.errors(SECOND, 1, b"oh\n")
        past.log(SECOND, 2, b"two\n")
        run_at_work(past, 2)
        expected = ["--- stderr ---\n", "oh\n", "--- iteration 2 ---\n", "two\n"]
        assert [process.stdout.readline() for _ in expected] == expected
        run_at_work(past, 2, ExitReason.QUEUE_EMPTY)
        assert process.communicate(timeout=120)[0] == ""
    assert process.returncode == 0


@pytest.mark.slow
def test_run_log_that_follows_ends_at_ctrl_c_and_when_the_run_was_killed(past):
    live = User.from_environment().live
    run_at_work(past, 1)
    past.log(SECOND, 1, b"one\n")
    command = [*REAL, "run", "log", "-f"]
    assert subprocess.run(command, cwd=past.root, capture_output=True, timeout=120).stdout == b"one\n"
    with registered(live, SECOND):
        process = subprocess.Popen(
            command, cwd=past.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "one\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, "Traceback" in err) == (130, "", False)


def test_run_report_writes_files_prints_markdown_and_html(samuel, past, monkeypatch, tmp_path):
    assert samuel("run", "report") == (
        0,
        "0 proven, 1 checked, 1 unverified, 1 blocked, 1 waiting; 2 wait for you\n"
        f".samuel/run/reports/{SECOND}/report.html, report.md and report.json\n",
        "",
    )
    document = json.loads((past.state / f"reports/{SECOND}/report.json").read_text())
    assert samuel("run", "report", "--json").json["data"] == document
    assert samuel("run", "report", "--markdown").out.startswith(
        "# project: 0 proven, 1 checked, 1 unverified, 1 blocked"
    )
    assert samuel("run", "report", "--html", "-").out.startswith("<!doctype html>")
    assert samuel("run", "report", "19772a7d", "--html", "page.html") == (
        *(0, f"`page.html` has the report of run {FIRST}\n", ""),
    )
    assert "1</b> checked" in (past.root / "page.html").read_text()
    assert samuel("run", "report", "--html", "none/page.html") == (
        *(1, "", "error: `none/page.html` cannot be written: No such file or directory\ngive another file\n"),
    )
    assert samuel("run", "report", "--html", "x", "--markdown").code == 2


def test_run_report_is_added_to_the_step_summary_of_github(samuel, past, monkeypatch, tmp_path):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    printed = samuel("run", "report", "--github").out
    assert printed.startswith("# project: ")
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert samuel("run", "report", "--github").out == f"the report of run {SECOND} is in the step summary\n"
    before, title, _ = summary.read_text().split("\n", 2)
    assert (before, title) == ("before", printed.split("\n")[0])


def test_run_status_names_what_waits_for_a_person(samuel, past):
    run_at_work(past, 2, ExitReason.TASKS_BLOCKED)
    assert samuel("run", "status").out == (
        "STATUS      TASKS\n"
        "checked     1\n"
        "blocked     1\n"
        "unverified  1\n"
        "waiting     1\n"
        "\n"
        f"last run    {SECOND}, tasks_blocked\n"
        "began       MOMENT, took 3m 20s\n"
        "iterations  0\n"
        "\n"
        "waiting     4 Mail: which address?\n"
        "blocked     2 Totals: `make test` failed\n"
        "unverified  1 task that no check shows to be done: 3\n"
        "`samuel run show ID` shows a task, `samuel run reset ID` lets the next run try it again\n"
    )
    data = samuel("run", "status", "--json").json["data"]
    assert data["counts"] == {"completed": 2, "blocked": 1, "waiting": 1}
    assert (data["unverified"], data["blocked"]) == (["3"], [{"id": "2", "why": "`make test` failed"}])


def test_run_status_keeps_the_lines_of_a_traceback(samuel, past):
    run_at_work(past, 2, ExitReason.TASKS_BLOCKED)
    why = "quality_failed: `make test` ended with exit code 2\n" + "\n".join(f"  line {n}" for n in range(1, 13))
    TaskStore(past.state).replace_all([Task(id="2", title="Totals", status="blocked", last_failure=why)])
    assert samuel("run", "status").out.endswith(
        "blocked     2 Totals: quality_failed: `make test` ended with exit code 2\n"
        + "".join(f"              line {n}\n" for n in range(3, 13))
        + "`samuel run show ID` shows a task, `samuel run reset ID` lets the next run try it again\n"
    )


def test_run_status_says_until_when_a_run_waits_for_its_agent_also_after_a_kill(samuel, past):
    until = time.time() + 3 * 24 * 3600 - 1
    limit = AgentWait(kind=EndingKind.LIMITED, why="usage limit reached", since=START, until=until)
    run_at_work(past, 1, agents=["mine"], waits={"mine": limit})
    held = f"held        mine until {time.strftime('%a %H:%M', time.localtime(until))}, 71:59:"

    with registered(User.from_environment().live, SECOND):
        live = samuel("run", "status").out
        assert f"last run    {SECOND}, waiting for mine\n" in live
        assert held in live
    killed = samuel("run", "status").out
    assert f"last run    {SECOND}, not ended: `samuel run start` resumes it\n" in killed
    assert held in killed
    assert "left: usage limit reached\n" in killed
    assert samuel("run", "status", "--json").json["data"]["hold"] == {
        "mine": {"until": until, "why": "usage limit reached"}
    }

    run_at_work(past, 1, agents=["mine", "other"], waits={"mine": limit})
    with registered(User.from_environment().live, SECOND):
        assert f"last run    {SECOND}, at work\n" in samuel("run", "status").out, "the other agent can work"
    run_at_work(past, 1, ExitReason.INTERRUPTED, agents=["mine"], waits={"mine": limit})
    assert "held" not in samuel("run", "status").out, "a run that has ended waits for nothing"


def test_run_show_and_the_report_say_until_when_a_run_waits_and_for_what(samuel, past):
    until = time.time() + 3 * 24 * 3600 - 1
    limit = AgentWait(kind=EndingKind.LIMITED, why="usage limit reached", since=START, until=until)
    place = PlaceState(lanes=(1,), status="waiting", why="no answer from it", until=until)
    lanes = LanesState(count=1, branch="main", start="0" * 40, tip="0" * 40, fleet={"box": place})
    run_at_work(past, 1, agents=["mine"], waits={"mine": limit}, lanes=lanes)
    end = f"until {time.strftime('%a %H:%M', time.localtime(until))}, 71:59:"
    run_page = samuel("run", "show").out
    for text in (run_page, samuel("run", "status").out, samuel("run", "show", "2").out):
        assert re.search(rf"^held +mine {end}\d\d left: usage limit reached$", text, re.MULTILINE)
        assert re.search(rf"^held +machine box {end}\d\d left: no answer from it$", text, re.MULTILINE)
    moment = "MOMENT UTC"
    markdown = samuel("run", "report", "--markdown").out
    assert f"- ⏳ waits for mine until {moment}: usage limit reached\n" in markdown
    assert f"- ⏳ waits for machine box until {moment}: no answer from it\n" in markdown
    page = samuel("run", "report", "--html", "-").out
    assert f"<b>waits</b> for mine until {moment}: usage limit reached</p>" in page
    holds = [
        {"name": "mine", "until": until, "why": "usage limit reached"},
        {"name": "machine box", "until": until, "why": "no answer from it"},
    ]
    for command in (("report",), ("show",), ("status",)):
        assert samuel("run", *command, "--json").json["data"]["holds"] == holds
    run_at_work(past, 1, ExitReason.INTERRUPTED, agents=["mine"], waits={"mine": limit}, lanes=lanes)
    assert samuel("run", "report", "--json").json["data"]["holds"] == []
    assert "held" not in samuel("run", "show").out


@pytest.mark.slow
def test_two_runs_do_not_write_over_each_others_logs(samuel, workshop: Workshop):
    workshop.configure(CONFIG.replace("test ! -f wrong", "true"))
    workshop.agent('echo "$SAMUEL_RUN_ID"\n')
    assert samuel("trust", "--yes").code == 0
    for _ in range(2):
        samuel("run", "start", "--iterations", "1")
    logs = sorted((workshop.root / ".samuel/run/logs").glob("run-*/iteration-0001.log"))
    assert [log.read_text().strip() for log in logs] == [log.parent.name for log in logs]
    assert len(logs) == 2


@pytest.mark.slow
def test_the_report_of_an_earlier_run_stays_as_it_was(samuel, workshop: Workshop):
    workshop.configure(CONFIG.replace("quality_checks", "max_task_attempts = 1\nquality_checks"))
    workshop.agent('touch wrong; samuel run done "$SAMUEL_TASK_ID" > /dev/null')
    assert samuel("trust", "--yes").code == 0
    samuel("run", "start", "--iterations", "1")
    first = samuel("run", "history", "--json").json["data"][0]["run_id"]
    page = workshop.root / f".samuel/run/reports/{first}/report.html"
    saved, reported = page.read_bytes(), samuel("run", "report", first)
    assert reported.out.startswith(
        "0 proven, 0 checked, 0 unverified, 1 blocked, 0 waiting, 1 pending; 2 wait for you\n"
    )

    workshop.agent('echo x > ok; samuel run done "$SAMUEL_TASK_ID" > /dev/null')
    assert samuel("run", "start", "--iterations", "1", "--yes").code == 0
    samuel("run", "reset", "1")
    assert samuel("run", "report").out.startswith(
        "0 proven, 1 checked, 0 unverified, 0 blocked, 0 waiting, 1 pending; "
    )
    workshop.store.replace_all([Task(id="1", title="Another list")])

    assert samuel("run", "report", first) == reported
    assert page.read_bytes() == saved
    assert "samuel run reset 1" in samuel("run", "report", first, "--markdown").out
    assert samuel("run", "report").out.startswith(
        "0 proven, 1 checked, 0 unverified, 1 blocked, 0 waiting; 2 wait for you\n"
    )


@pytest.mark.slow
def test_the_report_has_the_diff_of_each_task_and_cuts_a_long_one(samuel, workshop: Workshop, git):
    workshop.configure(CONFIG.replace("quality_checks", "commit = true\nmax_task_attempts = 1\nquality_checks"))
    git(workshop.root, "config", "user.name", "A Person")
    git(workshop.root, "config", "user.email", "person@example.org")
    git(workshop.root, "commit", "-q", "--allow-empty", "-m", "begin")
    workshop.agent(
        'if [ "$SAMUEL_TASK_ID" = 1 ]; then seq 9999 > numbers; else echo bad > wrong; fi\n'
        'samuel run done "$SAMUEL_TASK_ID" > /dev/null\n'
    )
    samuel("run", "start", "--yes")
    run_id = samuel("run", "history", "--json").json["data"][0]["run_id"]
    saved = (workshop.root / f".samuel/run/reports/{run_id}/report.md").read_text()
    assert "```diff\ndiff --git a/numbers b/numbers\n" in saved
    assert "+1000\n" in saved
    assert "+9999\n" not in saved
    assert "`samuel run show 1 --diff` prints the whole diff.\n" in saved
    assert "+++ b/wrong\n@@ -0,0 +1 @@\n+bad\n```\n" in saved, "a failed attempt too"
    assert "+++ b/wrong\n" in samuel("run", "report", "--markdown").out
    whole = samuel("run", "show", "1", "--diff").out
    assert "+9999\n" in whole
