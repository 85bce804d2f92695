"""Pages about the work of a run that are made when they are asked for: a task, all tasks, the journal, a log."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from msgspec.structs import replace

from samuel.agents.process_files import log_path
from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.clients.adapter.stream import PlainStream, ReadableLog
from samuel.dashboard.project_page import ProjectPage, task_reports
from samuel.dashboard.templates_of_pages import render
from samuel.display.agent_log import log_chunks, stream_of
from samuel.display.now.model import RunNow
from samuel.git.git import Git
from samuel.process import environment
from samuel.report.diffs import COMMIT, LONGEST, patch, with_diffs
from samuel.report.model import TaskReport
from samuel.setup.run_state import state_directory

Query = Mapping[str, str]
STEP = 500
"""Tasks on one page."""
LOG_TAIL = 400_000
"""Bytes of an agent's output."""


def task_page(page: ProjectPage, query: Query) -> str:
    """A task with its attempts, its checks and its diff."""
    now, id = page.look(), query.get("id", "")
    task = next((task for task in now.tasks if task.id == id), None)
    report = task_reports(now.report).get(id)
    if task is None and report is None:
        raise SamuelError(f"there is no task `{id}`")
    title = task.title if task else report.title if report else ""
    return render(
        "task.html.j2",
        **_of_page(page, now),
        id=id,
        title=title,
        task=task,
        report=_with_diff(page, now, report),
        earlier_diff="" if report or not task else _diff_of(page, task.commit),
    )


def _diff_of(page: ProjectPage, commit: str) -> str:
    """What a commit of a run before this one changed; "" if git does not have it."""
    with suppress(SamuelError, OSError):
        if COMMIT.fullmatch(commit):
            return patch(Git(page.project.root, environment.clean()), commit, summary=False)[:LONGEST]
    return ""


def _with_diff(page: ProjectPage, now: RunNow, report: TaskReport | None) -> TaskReport | None:
    if report is None or now.report is None:
        return None
    git = Git(page.project.root, environment.clean())
    return with_diffs(replace(now.report, tasks=(report,)), git).tasks[0]


def tasks_page(page: ProjectPage, query: Query) -> str:
    """The tasks in the order of the list, some hundred at a time."""
    now, first = page.look(), max(_number(query, "first"), 0)
    return render(
        "all_tasks.html.j2",
        **_of_page(page, now),
        rows=now.tasks[first : first + STEP],
        first=first,
        step=STEP,
        total=len(now.tasks),
        reports=task_reports(now.report),
    )


def journal_page(page: ProjectPage, query: Query) -> str:
    """The last events of the run with the chain of hooks that answered each."""
    now = page.look()
    events = now.denials if query.get("only") == "denied" else now.events
    return render("journal.html.j2", **_of_page(page, now), events=events[::-1])


def log_page(page: ProjectPage, query: Query) -> str:
    """The end of what the agent of an iteration wrote, as a person would read it."""
    now, iteration = page.look(), _number(query, "iteration")
    if not now.run_id or iteration < 1:
        raise SamuelError("no iteration is named")
    state = state_directory(page.project.root, page.project.methodology)
    agents = {attempt.iteration: attempt.agent for attempt in now.attempts}
    for task in now.report.tasks if now.report else ():
        agents |= {attempt.record.iteration: attempt.record.agent for attempt in task.attempts}
    factory = stream_of(page.project.root, agents.get(iteration, ""))
    output = b"".join(log_chunks(state, log_path(state, now.run_id, iteration, "output"), -LOG_TAIL))
    if factory is PlainStream:
        text = output.decode("utf-8", "replace")
    else:
        log = ReadableLog(factory)
        text = "\n".join([*log.feed(output), *log.close()])
    title = f"Output of iteration {iteration}"
    words = "" if text else "there is none yet, or it was removed to make room"
    return render("text.html.j2", title=title, words=words, text=safe(text), back=page.base)


def _of_page(page: ProjectPage, now: RunNow) -> dict[str, object]:
    return {"base": page.base, "project": page.project, "now": now}


def _number(query: Query, name: str) -> int:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
