"""Later edits of a source, merged into the task list: what was done stays done, nothing goes by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from samuel.tasks.changes import free_id
from samuel.tasks.formats.base import ImportedTasks
from samuel.tasks.importing import TaskImport
from samuel.tasks.origin import SourceItem, TaskOrigin, source_item
from samuel.tasks.store import TaskStore
from samuel.tasks.task import COLUMNS, QUESTIONS, Task

# What the source says of a task. The rest (status, attempts, questions, ...) is the loop's and the person's.
FROM_SOURCE = (
    *("title", "description", "priority", "complexity", "parent_id", "depends_on", "files_to_create"),
    *(
        "files_to_modify",
        "guardrails",
        "checks",
        "no_change",
        "kind",
        "proof",
        "acceptance",
        "test_strategy",
        "rank",
    ),
)
assert set(FROM_SOURCE) < set(COLUMNS) - {QUESTIONS}
OVER = ("completed", "skipped")
REMOVED = "it is not in its source any more"


class ChangedTask(NamedTuple):
    id: str
    title: str
    fields: tuple[str, ...]


class SourceMerge(NamedTuple):
    """What a merge would do to the task list."""

    tasks: tuple[Task, ...]
    items: dict[str, SourceItem]  # of the origin, afterwards
    added: tuple[Task, ...] = ()
    changed: tuple[ChangedTask, ...] = ()
    removed: tuple[Task, ...] = ()  # not in the source any more, and not over: still in `tasks`
    done_in_source: tuple[Task, ...] = ()  # marked there, but not completed here: still open in `tasks`


def merge(tasks: Sequence[Task], origin: TaskOrigin, imported: ImportedTasks, *, stable_ids: bool) -> SourceMerge:
    """The task list with what the source says now."""
    matches = _matches(origin.items, imported.tasks, stable_ids=stable_ids)
    ids = {task.id for task in tasks}
    own_ids: dict[str, str] = {}  # by the id in the source
    taken = set(ids)
    for index, task in enumerate(imported.tasks):
        own = matches.get(index, "")
        if own not in ids:
            own = free_id(task.id, taken)
        taken.add(own)
        own_ids[task.id] = own
    incoming = {own_ids[task.id]: _translated(task, own_ids) for task in imported.tasks}
    items = {own_ids[task.id]: source_item(task) for task in imported.tasks}
    merged, changed, done = [], [], []
    for task in tasks:
        new = incoming.get(task.id)
        if new is not None and (item := origin.items.get(task.id)) is not None:
            fields = _differing(task, new) if items[task.id].digest != item.digest else ()
            if fields and task.status not in OVER:
                changed.append(ChangedTask(task.id, new.title, fields))
                task = replace(task, **{name: getattr(new, name) for name in fields})
            if new.status == "completed" and task.status not in OVER:
                done.append(task)
        merged.append(task)
    added = [task for task in incoming.values() if task.id not in ids]
    gone = origin.items.keys() - incoming.keys()
    removed = [task for task in merged if task.id in gone and task.status not in OVER]
    items |= {id: origin.items[id] for id in gone}
    return SourceMerge((*merged, *added), items, tuple(added), tuple(changed), tuple(removed), tuple(done))


def apply_merge(
    store: TaskStore,
    origin: TaskOrigin,
    task_import: TaskImport,
    *,
    skipped: Collection[str],
    completed: Collection[str],
    at: str,
) -> SourceMerge:
    """Merge into the task list as it is now: it may have changed since a person was asked about the plan.

    The tasks `skipped` and `completed` become so; `at` is the time of that. Gives what was merged.
    """
    plan: SourceMerge | None = None
    gone = {"status": "skipped", "claimed": False, "last_failure": REMOVED}
    done = {"status": "completed", "grade": "done by a person", "completed_at": at, "claimed": False}

    def merged(tasks: tuple[Task, ...]) -> list[Task]:
        nonlocal plan
        plan = merge(tasks, origin, task_import.imported, stable_ids=task_import.format.stable_ids)
        rows = (replace(task, **gone) if task.id in skipped else task for task in plan.tasks)
        return [
            replace(task, **done) if task.id in completed and task.status != "completed" else task for task in rows
        ]

    store.change(merged, trusted=True)
    assert plan is not None
    return plan


def _matches(items: Mapping[str, SourceItem], tasks: Sequence[Task], *, stable_ids: bool) -> dict[int, str]:
    """By index in the source, the id in our list: matched by id and title, then by title, then by id."""
    keys: list[Callable[[str, str], object]] = [lambda id, title: id]
    if not stable_ids:
        keys = [lambda id, title: (id, title), lambda id, title: title, lambda id, title: id]
    matches: dict[int, str] = {}
    left = dict(items)
    for key in keys:
        by_key: dict[object, list[str]] = {}
        for own, item in left.items():
            by_key.setdefault(key(item.id, item.title), []).append(own)
        open_indexes = [index for index in range(len(tasks)) if index not in matches]
        indexes: dict[object, list[int]] = {}
        for index in open_indexes:
            indexes.setdefault(key(tasks[index].id, tasks[index].title), []).append(index)
        for value, owns in by_key.items():
            if len(owns) == 1 and len(indexes.get(value, ())) == 1:
                matches[indexes[value][0]] = owns[0]
                del left[owns[0]]
    return matches


def _translated(task: Task, own_ids: Mapping[str, str]) -> Task:
    return replace(
        task,
        id=own_ids[task.id],
        parent_id=own_ids.get(task.parent_id, task.parent_id),
        depends_on=tuple(own_ids.get(id, id) for id in task.depends_on),
    )


def _differing(task: Task, new: Task) -> tuple[str, ...]:
    return tuple(name for name in FROM_SOURCE if getattr(task, name) != getattr(new, name))
