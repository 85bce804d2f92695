"""Ids and titles of tasks with line breaks and control characters: every command prints them on one line."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace
from tests.cli.conftest import Samuel

from samuel.tasks.question import Question
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

from .conftest import CONFIG, Workshop

FORGED = "forged: a line that no command printed"
WRITTEN_ID, WRITTEN_OTHER = f"1\n{FORGED}", f"2\r\n{FORGED}\x1b[2K"
ID, OTHER = f"1 {FORGED}", f"2 {FORGED}\x1b[2K"
TITLE = f"One\n{FORGED}\n\tthe rest\x1b[31m\x85{FORGED}\u2028{FORGED}"
ASKED = Question(id="q1", text=f"Which?\n{FORGED}", options=(f"a\n{FORGED}", "b"))
TASKS = [
    Task(id=WRITTEN_ID, title=TITLE),
    Task(id=WRITTEN_OTHER, title=TITLE, status="blocked", last_failure=f"no\n{FORGED}", depends_on=(WRITTEN_ID,)),
    Task(id="3", title=TITLE, status="waiting", questions=(ASKED,)),
    Task(id="4", title=TITLE, status="completed", grade="unverified", commit_sha="0" * 40),
    Task(id="5", title=TITLE, status="skipped", last_failure=f"no\n{FORGED}"),
]
FAILING = CONFIG.replace('pause = "0s"', 'pause = "0s"\nmax_task_attempts = 1')


@pytest.fixture
def odd(workshop: Workshop, samuel: Samuel) -> Workshop:
    """A project with odd tasks, two of which a run has worked on."""
    workshop.configure(FAILING)
    workshop.store.replace_all(TASKS)
    return workshop


def forged_lines(text: str) -> list[str]:
    """The lines that begin with what an id, a title or a reason brought along; output of programs is indented."""
    return [line for line in text.splitlines() if line.startswith(FORGED)]


COMMANDS = [
    ("status",),
    ("tasks",),
    ("questions",),
    ("questions", "--all"),
    ("history",),
    ("show",),
    ("show", ID),
    ("show", OTHER),
    ("show", "3"),
    ("show", ID, "--diff"),
    ("show", "4", "--diff"),
    ("log", ID),
    ("log", OTHER),
    ("report",),
    ("report", "--markdown"),
    ("lanes",),
    ("land", ID),
    ("land", "1"),
    ("finish", "--merge"),
    ("done", "1"),
    ("done", ID),
    ("done", "4"),
    ("skip", ID, "--reason", "no"),
    ("block", ID, "--reason", "no"),
    ("block", "4", "--reason", "no"),
    ("reset", ID),
    ("reset", "--blocked"),
    ("restore", ID),
    ("restore", OTHER),
    ("ask", "why?"),
    ("answer", "3", "7"),
    ("answer", "3", "1"),
    ("answer", ID, "yes"),
    ("enqueue", f"another\n{FORGED}"),
    ("enqueue", "another", "--depends-on", ID),
    ("sync",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command).replace(FORGED, "…"))
def test_a_line_break_in_an_id_or_a_title_forges_no_line(samuel: Samuel, odd: Workshop, command: tuple[str, ...]):
    ran = samuel("run", *command)
    assert forged_lines(ran.out + ran.err) == []


@pytest.mark.slow
def test_a_run_prints_odd_tasks_on_one_line_each_from_its_start_to_its_report(samuel: Samuel, odd: Workshop):
    odd.agent('echo x > "work"\necho x > wrong\nsamuel run done "$SAMUEL_TASK_ID" > /dev/null\n')
    ran = samuel("run", "start", "--yes")
    assert "quality_failed" in ran.out
    assert forged_lines(ran.out + ran.err) == []
    for command in COMMANDS:
        ran = samuel("run", *command)
        assert forged_lines(ran.out + ran.err) == [], command
        if command[0] == "done":
            odd.store.replace_all(TASKS)
    (page,) = odd.root.glob(".samuel/run/reports/*/report.md")
    assert forged_lines(page.read_text()) == []


@pytest.mark.parametrize(("name", "format"), [("tasks.json", "task-master"), ("prd.json", "prd.json")])
def test_an_id_with_a_line_break_is_refused_where_tasks_are_read(samuel: Samuel, put, name: str, format: str):
    row = {"id": WRITTEN_ID, "title": TITLE, "description": "d", "status": "pending", "subtasks": []}
    put("tasks.json", json.dumps({"master": {"tasks": [row]}}))
    put("prd.json", json.dumps({"userStories": [{**row, "acceptanceCriteria": []}]}))
    for command in (("convert", name), ("init", "--from", name), ("enqueue", "--from", name)):
        assert samuel("run", *command, "--format", format) == (
            2,
            "",
            f"error: `{name}` has an id with a line break: `1\\x0a{FORGED}`\nan id is a word, such as `1.2`\n",
        )


@pytest.mark.parametrize(("name", "format"), [("tasks.json", "task-master"), ("prd.json", "prd.json")])
def test_titles_with_line_breaks_are_listed_on_one_line_each(samuel: Samuel, put, name: str, format: str):
    rows = [{"id": number, "title": TITLE, "description": "d", "status": "pending"} for number in ("1", "2")]
    put("tasks.json", json.dumps({"master": {"tasks": rows}}))
    put("prd.json", json.dumps({"userStories": [{**row, "acceptanceCriteria": []} for row in rows]}))
    for command in (("convert", name), ("init", "--from", name), ("tasks",), ("sync",)):
        options = ("--format", format) if command[0] in ("convert", "init") else ()
        ran = samuel("run", *command, *options)
        assert (ran.code, forged_lines(ran.out + ran.err)) == (0, []), ran


def test_a_task_that_is_claimed_and_has_line_breaks_forges_no_line(samuel: Samuel, store: TaskStore):
    store.replace_all([replace(TASKS[0], status="in_progress", claimed=True)])
    for command in (("status",), ("tasks",), ("done", ID)):
        assert forged_lines("".join(map(str, samuel("run", *command)[1:]))) == []
