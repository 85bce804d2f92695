"""A format that a handler of `tasks.read` brings: its answer, read as strictly as a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from samuel.base.errors import ConfigError, Problem
from samuel.base.nearest import did_you_mean
from samuel.tasks.formats.base import ImportedTasks, LeftOutItem, Mark, Recognition, in_order, valid_tasks
from samuel.tasks.formats.json_records import JsonRecord
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.formats.table import FittingFormat, built_in_format
from samuel.tasks.task import Task, TaskStatus

STATUSES: Mapping[str, TaskStatus] = {
    "pending": "pending",
    "in_progress": "pending",
    "completed": "completed",
    "done": "completed",
    "skipped": "skipped",
    "blocked": "blocked",
}
_TEXTS = ("description", "complexity", "test_strategy")
_LISTS = ("acceptance", "files_to_create", "files_to_modify", "guardrails", "checks")
_FIELDS = ("id", "title", "line", "status", "priority", "depends_on", *_TEXTS, *_LISTS)


class HandlerFormat:
    """One answer of one handler. It is about one source, so `read` must be given that."""

    example = ""
    marks = ""
    stable_ids = False  # how the handler makes them is not known

    def __init__(self, handler: str, name: str, answer: Mapping[str, Any]) -> None:
        self.name = name
        self.summary = f"read by the hook `{handler}`"
        self._handler = handler
        self._answer = answer

    def recognise(self, source: TaskSource) -> Recognition | None:
        return None  # its handler has answered already

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        problems: list[Problem] = []
        records = [
            JsonRecord(values, source.name, _line(values), "task", problems) for values in self._answer["tasks"]
        ]
        tasks = [_task(record) for record in records]
        lines = [record.line for record in records]
        try:
            imported = valid_tasks(source, tasks, lines, problems)
        except ConfigError as error:
            label = f"the hook `{self._handler}` returned a wrong task"
            raise ConfigError(
                [problem._replace(what=f"{label}: {problem.what}") for problem in error.problems]
            ) from None
        left_out = (LeftOutItem(part.get("line", 0), part["what"]) for part in self._answer.get("left_out", ()))
        return imported._replace(
            tasks=imported.tasks if any(task.rank for task in tasks) else in_order(tasks),
            counts={"lines": sum(bool(line.strip()) for line in source.text.splitlines())},
            left_out=tuple(left_out),
            notes=(f"nothing is written back: the hook `{self._handler}` only reads",),
        )

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        return None


class HandlerFormats(NamedTuple):
    """The formats in which handlers of `tasks.read` could read a source, each name once."""

    formats: Sequence[FittingFormat] = ()
    notes: tuple[str, ...] = ()  # also why a handler could not be asked


def handler_formats(candidates: Iterable[Mapping[str, Any]], format_name: str) -> HandlerFormats:
    """The formats that handlers answered with; of two with the same name, that of the first handler."""
    formats: dict[str, FittingFormat] = {}
    handlers: dict[str, str] = {}
    notes, others = list[str](), list[str]()
    for answer in candidates:
        handler, name = answer["handler"], (answer.get("format") or "").strip()
        if not name and not answer.get("tasks"):
            continue
        _refuse_name(handler, name)
        if name in formats:
            notes.append(f"the hook `{handler}` reads `{name}`, too; the first one, `{handlers[name]}`, is used")
        elif not format_name or name == format_name:
            format = HandlerFormat(handler, name, {"tasks": [], **answer})
            formats[name] = FittingFormat(format, f"the hook `{handler}` reads it")
            handlers[name] = handler
        else:
            others.append(f"the hook `{handler}` would read it as `{name}`")
    return HandlerFormats(tuple(formats.values()), tuple(notes if formats else others))


def _refuse_name(handler: str, name: str) -> None:
    if not name:
        problem = Problem(f"the hook `{handler}` returned tasks without a `format`", hint="name what it read")
    elif built_in_format(name):
        problem = Problem(f"the hook `{handler}` uses the built-in name `{name}`", hint="use another name")
    else:
        return
    raise ConfigError([problem])


def _line(values: Any) -> int:
    line = values.get("line") if isinstance(values, dict) else 0
    return line if isinstance(line, int) and line > 0 else 0


def _task(record: JsonRecord) -> Task:
    for name in record.values:
        if name not in _FIELDS:
            record.refuse(f"`{name}` is not a field of a task", did_you_mean(name, _FIELDS, ", ".join(_FIELDS)))
    record.number("line", 0)
    fields: dict[str, Any] = {name: text for name in _TEXTS if (text := record.text(name).strip())}
    fields |= {name: record.texts(name) for name in _LISTS}
    fields |= record.priority()
    status = record.choice("status", STATUSES, "pending")
    if status in ("skipped", "blocked"):
        fields["last_failure"] = f"it is {status} in its source"
    return Task(
        id=record.text("id", needed=True).strip(),
        title=record.title(),
        status=status,
        depends_on=record.ids("depends_on"),
        **fields,
    )
