"""The page of a run in fragments: each is sent again when it is another one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from samuel.base.errors import SamuelError
from samuel.dashboard.live_view import Fragments
from samuel.dashboard.projects import RunProject
from samuel.dashboard.templates_of_pages import render
from samuel.display.now.model import RunNow, TaskNow
from samuel.display.now.watcher import RunWatcher
from samuel.report.html import timeline_ticks
from samuel.report.model import RunReport, TaskReport
from samuel.setup.watched_run import run_watcher

MOST_ROWS = 200
"""Tasks on the page of a run; the others are on pages of their own."""
MOST_CARDS = 50
MOST_LANES = 60
MOST_EVENTS = 15
MOST_DENIALS = 10
_FIRST = ("in_progress", "waiting", "blocked", "pending")


class ProjectPage:
    """The run of one project. Two views may look at it at once, in threads of their own."""

    def __init__(self, project: RunProject) -> None:
        self.project = project
        self.base = f"/projects/{project.id}"
        self._watcher: RunWatcher | None = None
        self._one_look = Lock()
        self._rendered: dict[str, tuple[Any, str]] = {}

    def look(self) -> RunNow:
        """The run as it is now; with the problem, if it cannot be read."""
        with self._one_look:
            try:
                self._watcher = self._watcher or run_watcher(self.project.root, self.project.methodology)
                return self._watcher.look_or_say_why()
            except SamuelError as error:
                return _unreadable(self.project.root, error.message)
            except OSError as error:
                return _unreadable(self.project.root, f"{error.strerror}: `{error.filename}`")

    def fragments(self) -> Fragments:
        now = self.look()
        others = [item for item in now.waiting if item.word not in ("waiting", "blocked")]
        blocked = [task for task in now.tasks if task.status == "blocked"]
        events = now.events[-MOST_EVENTS:]
        return {
            "head": self._fragment("head", now=now, project=self.project),
            "needs": self._fragment("needs", now=now, others=others, blocked=blocked, most=MOST_CARDS),
            "attempts": self._fragment("attempts", now=now),
            "timeline": self._cached("timeline", (now.report,), lambda: self._timeline(now.report)),
            "tasks": self._cached("tasks", (now.tasks, now.report), lambda: self._tasks(now)),
            "hooks": self._cached(
                "hooks",
                (events, now.denials, now.messages),
                lambda: self._fragment(
                    "hooks",
                    events=events[::-1],
                    denials=now.denials[-MOST_DENIALS:][::-1],
                    messages=now.messages[::-1],
                ),
            ),
        }

    def _fragment(self, name: str, **values: Any) -> str:
        return render(f"{name}.html.j2", base=self.base, **values)

    def _cached(self, name: str, key: tuple[Any, ...], make: Callable[[], str]) -> str:
        """A fragment, made again only if what is in it is not the same."""
        before = self._rendered.get(name)
        if before is not None and before[0] == key:
            return before[1]
        text = make()
        self._rendered[name] = key, text
        return text

    def _tasks(self, now: RunNow) -> str:
        rows = now.tasks if len(now.tasks) <= MOST_ROWS else _important(now.tasks)[:MOST_ROWS]
        return self._fragment("tasks", rows=rows, total=len(now.tasks), reports=task_reports(now.report))

    def _timeline(self, report: RunReport | None) -> str:
        tasks = report.tasks if report else ()
        return self._fragment(
            "timeline",
            report=report,
            tasks=tasks[-MOST_LANES:],
            left_out=max(len(tasks) - MOST_LANES, 0),
            ticks=timeline_ticks(report) if report else (),
        )


def task_reports(report: RunReport | None) -> dict[str, TaskReport]:
    """What is recorded of each task with an attempt in this run."""
    return {task.id: task for task in report.tasks} if report else {}


def _important(tasks: tuple[TaskNow, ...]) -> list[TaskNow]:
    """What needs or gets work first; else in the order of the list. The sort is stable."""
    ranks = {status: rank for rank, status in enumerate(_FIRST)}
    return sorted(tasks, key=lambda task: ranks.get(task.status, len(_FIRST)))


def _unreadable(root: Path, problem: str) -> RunNow:
    return RunNow(at=0.0, project=root.name, root=str(root), problem=problem)
