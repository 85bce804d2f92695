"""task-master: tasks.json with tags, tasks and subtasks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from samuel.base.errors import ConfigError, Problem, UsageError
from samuel.base.nearest import did_you_mean
from samuel.tasks.formats.base import (
    BY_GRAMMAR,
    BY_NAME,
    ImportedTasks,
    LeftOutItem,
    Mark,
    Recognition,
    valid_tasks,
)
from samuel.tasks.formats.json_records import JsonRecord
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.task import PRIORITIES, Task, TaskStatus

MASTER = "master"
TASKS = "tasks"
STATUSES: Mapping[str, tuple[TaskStatus, str]] = {
    "pending": ("pending", ""),
    "in-progress": ("pending", ""),
    "done": ("completed", ""),
    "completed": ("completed", ""),
    "review": ("completed", ""),
    "deferred": ("blocked", "deferred in the source"),
    "blocked": ("blocked", "blocked in the source"),
    "cancelled": ("skipped", "cancelled in the source"),
}
_OVER = ("completed", "skipped")


class _Item(NamedTuple):
    id: str
    parent: str
    record: JsonRecord
    path: tuple[str | int, ...]


class TaskMaster:
    name = "task-master"
    summary = "tasks.json of task-master: tags, tasks and subtasks"
    example = (
        '    {"master": {"tasks": [{"id": 1, "title": "Store prices", "status": "pending", "subtasks": []}]}}'
    )
    marks = "`status` of the task becomes `done`"
    stable_ids = True

    def recognise(self, source: TaskSource) -> Recognition | None:
        if not source.looks_like_json:
            return None
        if ".taskmaster" in source.parts():
            return Recognition(BY_NAME, "it is below .taskmaster/")
        tags = _tags(source.json)
        first = next((task for tasks in tags.values() for task in tasks), None)
        if isinstance(first, dict) and {"id", "title"} <= first.keys() and {"status", "subtasks"} & first.keys():
            return Recognition(BY_GRAMMAR, "it is JSON with tags of `tasks` that have a `status`")
        return None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        tags = _tags(source.json)
        if not tags:
            raise ConfigError(
                [Problem("there is no tag with `tasks`", source.name, 1, "`task-master list` shows them")]
            )
        tag = _chosen(source, tags, tag)
        problems: list[Problem] = []
        items = list(_items(source, tags, tag, problems))
        tasks, left_out = _tasks(items)
        lines = [item.record.line for item in items]
        others = [f"`{name}` ({len(rows)})" for name, rows in tags.items() if name != tag]
        notes = [f"these are the tasks of the tag `{tag}`"] if tag else []
        if others:
            notes[0] += f"; `--tag` reads another one: {', '.join(others)}"
        subtasks = sum(bool(item.parent) for item in items)
        return valid_tasks(source, tasks, lines, problems)._replace(
            counts={"tasks": len(items) - subtasks, "subtasks": subtasks},
            left_out=tuple(left_out),
            notes=tuple(notes),
            tag=tag,
        )

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        problems: list[Problem] = []
        items = list(_items(source, _tags(source.json), imported.tag, problems))
        place = source.json_root.at((*items[index].path, "status"))
        if place is None or source.path is None:
            return None
        now = json.loads(source.exact_text[place.start : place.end])
        done = STATUSES.get(str(now).lower(), STATUSES["pending"])[0] == "completed"
        new = source.exact_text[place.start : place.end] if done else '"done"'
        return Mark(source.path, place.start, place.end, new)


def _tags(values: Any) -> dict[str, list[Any]]:
    """The lists of tasks by tag; "" is the old form, a file without tags."""
    if not isinstance(values, dict):
        return {}
    if isinstance(values.get(TASKS), list):
        return {"": values[TASKS]}
    return {
        name: tag[TASKS]
        for name, tag in values.items()
        if isinstance(tag, dict) and isinstance(tag.get(TASKS), list)
    }


def _chosen(source: TaskSource, tags: Mapping[str, Sequence[Any]], tag: str) -> str:
    """The tag that was asked for, else the current one, else master, else the first."""
    if tag:
        if tag not in tags:
            names = ", ".join(name for name in tags if name) or "none: it has no tags"
            raise UsageError(f"`{source.name}` has no tag `{tag}`", did_you_mean(tag, tags, f"one of {names}"))
        return tag
    current = ""
    if (state := source.beside("../state.json", "state.json")) is not None:
        with suppress(ConfigError, UsageError):
            values = TaskSource.of_file(state).json
            current = values.get("currentTag", "") if isinstance(values, dict) else ""
    return next(name for name in (current, MASTER, *tags) if name in tags)


def _items(
    source: TaskSource, tags: Mapping[str, Sequence[Any]], tag: str, problems: list[Problem]
) -> Iterator[_Item]:
    path = (tag, TASKS) if tag else (TASKS,)
    places = source.json_root.at(path)
    for index, element in enumerate(places.members if places else ()):
        values = tags[tag][index]
        record = JsonRecord(values, source.name, source.line_of(element.start), "task", problems)
        id = record.text("id", needed=True).strip()
        yield _Item(id, "", record, (*path, index))
        subtasks = record.items("subtasks")
        below = element.node.at(("subtasks",)) if subtasks else None
        ids = set[str]()
        for number, child in enumerate(below.members if below else ()):
            line = source.line_of(child.start)
            part = JsonRecord(subtasks[number], source.name, line, "subtask", problems)
            own = part.text("id", needed=True).strip().removeprefix(f"{id}.")
            child_id = f"{id}.{own}" if own not in ids else f"{id}.{own}-{number + 1}"  # some files repeat one id
            ids.add(own)
            yield _Item(child_id, id, part, (*path, index, "subtasks", number))


def _tasks(items: Sequence[_Item]) -> tuple[list[Task], list[LeftOutItem]]:
    ids = {item.id for item in items}
    children: dict[str, list[str]] = {}
    for item in items:
        if item.parent:
            children.setdefault(item.parent, []).append(item.id)
    statuses: dict[str, tuple[TaskStatus, str]] = {}
    waits: dict[str, tuple[str, ...]] = {}
    tasks, left_out = [], []
    for item in items:
        record = item.record
        status = record.choice("status", STATUSES, STATUSES["pending"])
        if item.parent and statuses[item.parent][0] in _OVER:
            status = statuses[item.parent]  # what is left of a task that is done is not worked on
        statuses[item.id] = status
        needed, missing = _dependencies(item, ids)
        if item.parent and "-" in item.id.removeprefix(f"{item.parent}."):
            what = f"the id `{record.text('id')}` of a subtask is there twice; this one is `{item.id}`"
            left_out.append(LeftOutItem(record.line, what))
        for id in missing:
            what = f"`{item.id}` depends on `{id}`, which is not in the list"
            left_out.append(LeftOutItem(record.line, what))
        siblings = children.get(item.parent, ())  # which a task may name, though it waits for all of them anyway
        inherited = (id for id in waits.get(item.parent, ()) if id not in siblings)
        waits[item.id] = tuple(dict.fromkeys((*inherited, *needed)))
        own = [] if status[0] in _OVER else children.get(item.id, [])
        complexity = record.values.get("complexity")
        tasks.append(
            Task(
                id=item.id,
                title=record.title(),
                description=_joined((record.text("description"), record.text("details"))),
                status=status[0],
                last_failure=status[1],
                priority=record.choice("priority", {name: name for name in PRIORITIES}, "medium"),
                complexity=_complexity(complexity) if isinstance(complexity, int | float) else "medium",
                parent_id=item.parent,
                depends_on=() if status[0] in _OVER else tuple(dict.fromkeys((*waits[item.id], *own))),
                acceptance=record.texts("acceptanceCriteria"),
                test_strategy=record.text("testStrategy").strip(),
                no_change=bool(own),
            )
        )
    return tasks, left_out


def _dependencies(item: _Item, ids: set[str]) -> tuple[list[str], list[str]]:
    """What an item waits for, and what of it does not exist. A plain number in a subtask means a sibling."""
    needed, missing = [], []
    for value in item.record.items("dependencies"):
        id = str(value).strip()
        if item.parent and f"{item.parent}.{id}" in ids:
            id = f"{item.parent}.{id}"
        if id in ids and id != item.parent:
            needed.append(id)
        elif id != item.parent:  # a subtask that waits for its own task: that one waits for it
            missing.append(id)
    return needed, missing


def _complexity(score: float) -> str:
    return "simple" if score <= 3 else "medium" if score <= 6 else "complex"


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())
