"""context.task: what an agent must know of its task, or of all tasks when it is to find new ones.

Tasks are plain mappings here, as events and task files have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import toons

from samuel.prompts.toon_tables import TableSection, compact, one_line

Task = Mapping[str, Any]

MOST_COMPLETIONS = 5
MOST_SIBLINGS = 10
FAILURE_TAIL = 800
DESCRIPTION = 4000
BUDGET = 1300
"""Bytes. The task itself is never cut for it: what is around it is."""
LEAST_AROUND = 500

_FIELDS = ("id", "title", "description", "test_strategy", "priority", "complexity", "source")
_LISTS = ("acceptance", "files_to_create", "files_to_modify", "guardrails")


def implementation(
    task: Task,
    tasks: Sequence[Task],
    guardrails: Mapping[str, Any] | None = None,
    budget: int = BUDGET,
) -> str:
    """The task, answers about it, why its last attempt failed, and what is around it.

    Around it is what it depends on, its siblings, and what was completed last.
    """
    attempts = int(task.get("attempts") or 0)
    about: dict[str, Any] = {name: _text(task[name]) for name in _FIELDS if task.get(name)}
    about |= {name: [_text(item) for item in _listed(task[name])] for name in _LISTS if task.get(name)}
    if attempts:
        about["attempt"] = attempts + 1
    head: dict[str, Any] = {"mode": "implementation", "task": about}
    if failure := str(task.get("last_failure") or "").strip():
        head["last_failure"] = _tail(failure)
    if answers := _answers(task):
        head["answers_from_a_person"] = answers
    if guardrails:
        head["guardrails"] = dict(guardrails)
    by_id = {str(other.get("id")): other for other in tasks}
    dependencies = [
        by_id.get(str(id), {"id": id, "title": "", "status": "unknown"}) for id in _listed(task.get("depends_on"))
    ]
    parent = task.get("parent_id") or ""
    siblings = [
        other
        for other in tasks
        if parent and other.get("parent_id") == parent and str(other.get("id")) != str(task.get("id"))
    ]
    done = _completed(tasks)
    return compact(
        head,
        [
            TableSection("depends_on", [_row(other) for other in dependencies], len(dependencies), 0.4),
            TableSection("siblings", [_row(other) for other in siblings[:MOST_SIBLINGS]], len(siblings), 0.3),
            TableSection(
                "recent_completions", [_done(other) for other in done[:MOST_COMPLETIONS]], len(done), 0.3
            ),
        ],
        max(budget, len(toons.dumps(head).encode()) + LEAST_AROUND),
    )


def discovery(tasks: Sequence[Task], focus: str, max_new: int, budget: int = BUDGET) -> str:
    """All tasks at a glance: how many are how far, and the open ones by title, so that none is proposed again."""
    counts = Counter(str(task.get("status") or "pending") for task in tasks)
    head: dict[str, Any] = {"mode": "discovery", "max_new_tasks": max_new}
    if focus:
        head["focus"] = _text(focus)
    head["tasks"] = {"total": len(tasks), **dict(sorted(counts.items()))}
    open_ones = [task for task in tasks if task.get("status") not in ("completed", "skipped")]
    done = _completed(tasks)
    return compact(
        head,
        [
            TableSection("open_tasks", [_row(task) for task in open_ones], len(open_ones), 0.75),
            TableSection("recent_completions", [_done(task) for task in done[:MOST_COMPLETIONS]], len(done), 0.25),
        ],
        budget,
    )


def _answers(task: Task) -> list[dict[str, str]]:
    """What earlier agents asked about the task, and what a person answered."""
    rows = (row for row in task.get("questions") or () if isinstance(row, Mapping) and row.get("answer"))
    return [{"question": _text(row.get("text") or ""), "answer": _text(row["answer"])} for row in rows]


def _completed(tasks: Sequence[Task]) -> list[Task]:
    """Newest first. The sort is stable, so tasks that say no time keep their order, the last one first."""
    done = [task for task in reversed(tasks) if task.get("status") == "completed"]
    return sorted(done, key=lambda task: str(task.get("completed_at") or ""), reverse=True)


def _row(task: Task) -> dict[str, str]:
    return {
        "id": one_line(str(task.get("id"))),
        "title": one_line(str(task.get("title") or ""), 72),
        "status": str(task.get("status") or "pending"),
    }


def _done(task: Task) -> dict[str, str]:
    return {
        "id": one_line(str(task.get("id"))),
        "title": one_line(str(task.get("title") or ""), 72),
        "commit": str(task.get("commit_sha") or "")[:10],
    }


def _text(value: Any) -> str:
    text = str(value)
    return text if len(text) <= DESCRIPTION else f"{text[: DESCRIPTION - 1]}…"


def _tail(failure: str) -> str:
    return failure if len(failure) <= FAILURE_TAIL else f"…{failure[-FAILURE_TAIL:]}"


def _listed(value: Any) -> list[Any]:
    """A list; or the text that a table's cell makes of one."""
    if isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return list(value or ())
