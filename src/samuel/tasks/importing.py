"""From what a person names (a file, a directory, `-`) to tasks: which file, which format, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from samuel.base.errors import SamuelError, UsageError
from samuel.base.printable import file_name, shorten
from samuel.tasks.formats.base import ImportedTasks, TaskFormat
from samuel.tasks.formats.handler_format import HandlerFormats
from samuel.tasks.formats.markdown import COMPANION, no_task_message_of
from samuel.tasks.formats.source import LARGEST, TaskSource
from samuel.tasks.formats.table import (
    FittingFormat,
    built_in_format,
    fitting_formats,
    format_named,
    nearest_examples,
)

STDIN = "-"
_IN_A_DIRECTORY = (
    *("tasks.md", "epics.md", "prd.json", "tasks.json", "issues.jsonl"),
    *("tasks/tasks.json", ".taskmaster/tasks/tasks.json", ".beads/issues.jsonl"),
    *("planning-artifacts/epics.md", "_bmad-output/planning-artifacts/epics.md"),
    *("openspec/changes/*/tasks.md", "changes/*/tasks.md", "specs/*/tasks.md"),
    *("prd.md", "PRD.md", "TODO.md", "fix_plan.md"),
)

Choose = Callable[[Sequence[FittingFormat]], TaskFormat | None]
"""Asks a person which of several formats is meant; None where no person can be asked."""


AskHandlers = Callable[[TaskSource, str], HandlerFormats]
"""Asks the handlers of `tasks.read` to read a source, in the format that is named, or in any with ""."""


def no_handlers(source: TaskSource, format_name: str) -> HandlerFormats:
    return HandlerFormats()


class TaskImport(NamedTuple):
    """Tasks that were read, and how."""

    source: TaskSource
    format: TaskFormat
    why: str
    imported: ImportedTasks
    notes: tuple[str, ...] = ()

    def warnings(self) -> list[str]:
        """What a person should look at: notes, and what was left out with its line."""
        places = [
            f"{self.source.name}:{line}: {what}" if line else f"{self.source.name}: {what}"
            for line, what in self.imported.left_out
        ]
        return [*self.notes, *self.imported.notes, *places]

    def plain(self) -> dict[str, Any]:
        """The import as the data of `--json`."""
        imported = self.imported
        return {
            "source": self.source.name,
            "format": self.format.name,
            "why": self.why,
            "tag": imported.tag,
            "counts": {**imported.counts, "tasks_read": len(imported.tasks)},
            "tasks": [task.plain() for task in imported.tasks],
            "left_out": [left_out._asdict() for left_out in imported.left_out],
            "documents": [document.name for document in imported.documents],
            "checks": list(imported.checks),
            "written_back": self.format.marks,
        }


def open_source(
    name: str, directory: Path, stdin: Callable[[], bytes], format_name: str = ""
) -> tuple[TaskSource, tuple[str, ...]]:
    """The source that `name` stands for, and notes about how it was found. Raises UsageError.

    `format_name` decides between the files of a directory.
    """
    if name == STDIN:
        data = stdin()
        if len(data) > LARGEST:
            raise UsageError(f"standard input has more than {LARGEST:,} bytes", "split it")
        return TaskSource(data), ()
    path = directory / name
    if path.is_dir():
        path = _in_directory(path, format_name)
    companion = path.with_name(f"{COMPANION}{path.name}")
    if path.suffix == ".md" and companion.is_file():
        note = f"these are the tasks of `{companion.name}`, which is beside `{path.name}`"
        return TaskSource.of_file(companion), (note,)
    return TaskSource.of_file(path), ()


def import_tasks(
    source: TaskSource,
    format_name: str = "",
    tag: str = "",
    choose: Choose | None = None,
    notes: tuple[str, ...] = (),
    ask_handlers: AskHandlers = no_handlers,
) -> TaskImport:
    """Read the tasks of a source in the format that is named, or that fits. Raises UsageError or ConfigError."""
    if format_name:
        why = "you said so"
        format, handler_notes = named_format(source, format_name, ask_handlers)
    else:
        (format, why), handler_notes = _recognised(source, choose, ask_handlers)
    imported = format.read(source, tag)
    if tag and imported.tag != tag:
        raise UsageError(f"the format {format.name} has no tags", "leave `--tag` out")
    if not imported.tasks:
        raise UsageError(f"`{source.name}` has no task in the format {format.name}", nearest_examples(source))
    if id := next((task.id for task in imported.tasks if len(task.id.splitlines()) > 1), ""):
        raise UsageError(
            f"`{source.name}` has an id with a line break: `{shorten(id)}`", "an id is a word, such as `1.2`"
        )
    return TaskImport(source, format, why, imported, (*notes, *handler_notes))


def named_format(
    source: TaskSource, name: str, ask_handlers: AskHandlers = no_handlers
) -> tuple[TaskFormat, tuple[str, ...]]:
    """The format with this name, and notes: a built-in one, or else that of a handler. Raises UsageError."""
    if format := built_in_format(name):
        return format, ()
    fitting, notes = ask_handlers(source, name)
    if fitting:
        return fitting[0].format, notes
    try:
        return format_named(name), ()
    except UsageError as error:
        raise _with_notes(error, notes) from None


def _recognised(
    source: TaskSource, choose: Choose | None, ask_handlers: AskHandlers
) -> tuple[FittingFormat, tuple[str, ...]]:
    fitting: Sequence[FittingFormat] = fitting_formats(source)
    notes: tuple[str, ...] = ()
    if not fitting:
        fitting, notes = ask_handlers(source, "")
    if not fitting:
        source.exact_text  # noqa: B018  it says what is wrong with a file that is not text
        if source.looks_like_json and not _is_json_lines(source):
            source.json  # noqa: B018  and with JSON that is cut off
        raise _with_notes(UsageError(no_task_message_of(source), nearest_examples(source)), notes)
    if len(fitting) == 1:
        return fitting[0], notes
    chosen = choose(fitting) if choose else None
    if chosen is None:
        listed = "\n".join(f"  --format {format.name}: {format.summary} ({why})" for format, why in fitting)
        raise UsageError(f"`{source.name}` can be read in {len(fitting)} ways", f"say which:\n{listed}")
    return FittingFormat(chosen, "you chose it"), notes


def _with_notes(error: UsageError, notes: Sequence[str]) -> UsageError:
    return UsageError(error.message, "\n".join([error.hint, *notes]))


def _fits(format: TaskFormat, path: Path) -> bool:
    with suppress(SamuelError):  # it cannot be read, so that it is not the one that is meant
        return format.recognise(TaskSource.of_file(path)) is not None
    return False


def _is_json_lines(source: TaskSource) -> bool:
    lines = source.text.split("\n", 2)
    return len(lines) > 1 and lines[0].rstrip().endswith("}") and lines[1].lstrip().startswith("{")


def _in_directory(directory: Path, format_name: str) -> Path:
    files = [path for pattern in _IN_A_DIRECTORY for path in sorted(directory.glob(pattern)) if path.is_file()]
    label = file_name(str(directory))
    format = built_in_format(format_name)
    if format and len(files) > 1:
        files = [path for path in files if _fits(format, path)] or files
    if len(files) == 1:
        return files[0]
    if not files:
        looked_for = ", ".join(_IN_A_DIRECTORY)
        raise UsageError(
            f"the directory `{label}` has no tasks that Samuel knows", f"name a file, or have one of: {looked_for}"
        )
    listed = "\n".join(f"  {file_name(str(path))}" for path in files)
    raise UsageError(f"the directory `{label}` has {len(files)} files with tasks", f"name one of them:\n{listed}")
