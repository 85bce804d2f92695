"""Marking completed tasks in the file that they came from: one field of each, every other byte as it was.

The file is read again each time. If it changed meanwhile, only the field of our task is set, if the task is still
there; else the task stays in `unwritten` and is tried again the next time. Idempotent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.base.printable import file_name, listed
from samuel.files import atomic
from samuel.files.inside import is_inside, make_dirs_inside
from samuel.files.regular import read_regular
from samuel.tasks.origin import MOST_NAMED, OriginFile, TaskOrigin, matching_index, no_place
from samuel.tasks.task import Task

# The formats are imported where they are used: `samuel run done`, which agents call in each iteration, needs them
# only for tasks that came from a file.
if TYPE_CHECKING:
    from samuel.tasks.formats.base import ImportedTasks, Mark, TaskFormat
    from samuel.tasks.formats.source import TaskSource

TRIES = 3  # while another program writes the file


class WrittenBack(NamedTuple):
    files: tuple[str, ...] = ()  # that hold the marks of the tasks, as absolute paths; also those marked before
    marked: tuple[str, ...] = ()  # the tasks that were marked now
    problems: tuple[str, ...] = ()


class _Changed(Exception):
    """Another program wrote the file between reading and replacing it."""


def write_back(
    origin_file: OriginFile, root: Path, completed: Collection[str], disk: atomic.Disk = atomic.DISK
) -> WrittenBack:
    """Mark these tasks, and those that could not be marked before, as done in their sources."""
    origins = origin_file.load()
    ids = tuple(dict.fromkeys([*origins.unwritten, *completed]))
    if not ids or not origins.origins:
        return WrittenBack()
    files, marked, problems, left = list[str](), list[str](), list[str](), list[str]()
    named = list(origins.named)
    for origin in origins.origins:
        own = [id for id in ids if id in origin.items]
        if not own or not origin.write_back:
            continue
        result = _Writer(origin, root, disk).write(own)
        files += result.files
        marked += result.marked
        problems += result.problems
        left += (id for id in own if id in result.left)
        if result.without_place and origin.label not in named:  # once: there may be hundreds
            named.append(origin.label)
            label, id = file_name(origin.label), result.without_place[0]
            why = f"`{label}` has no place to mark it: {_why(origin)}; this is not said again"
            problems.append(f"`{id}` is completed, but {why}")
    if (tuple(left), tuple(named)) != (origins.unwritten, origins.named):
        origin_file.save(replace(origins, unwritten=tuple(left), named=tuple(named)))
    return WrittenBack(tuple(dict.fromkeys(files)), tuple(marked), tuple(problems))


def _why(origin: TaskOrigin) -> str:
    from samuel.tasks.formats.table import format_named

    return no_place(format_named(origin.format).marks)


class _Result(NamedTuple):
    files: Sequence[str] = ()
    marked: Sequence[str] = ()
    problems: Sequence[str] = ()
    left: Sequence[str] = ()
    without_place: Sequence[str] = ()


class _Writer:
    def __init__(self, origin: TaskOrigin, root: Path, disk: atomic.Disk) -> None:
        self._origin = origin
        self._root = root
        self._disk = disk

    def write(self, ids: Sequence[str]) -> _Result:
        for _ in range(TRIES):
            try:
                return self._write(ids)
            except _Changed:
                continue
            except (SamuelError, OSError) as error:
                why = error.message if isinstance(error, SamuelError) else error.strerror or str(error)
                return _Result(problems=[self._problem(ids, why.partition("\n")[0])], left=ids)
        return _Result(problems=[self._problem(ids, "another program keeps writing it")], left=ids)

    def _write(self, ids: Sequence[str]) -> _Result:
        from samuel.tasks.formats.source import TaskSource
        from samuel.tasks.formats.table import format_named

        format = format_named(self._origin.format)
        source = TaskSource.of_file(self._origin.file(self._root), self._origin.label)
        imported = format.read(source, self._origin.tag)
        marks: dict[str, Mark] = {}
        problems, left, without_place = [], [], []
        for id in ids:
            item = self._origin.items[id]
            index = matching_index(imported, item, stable_ids=format.stable_ids)
            if index is None:
                left.append(id)
                why = f"it has no `{item.title}` any more; `samuel run sync` looks again"
                problems.append(self._problem([id], why))
            elif mark := format.mark_done(source, imported, index):
                marks[id] = mark
            elif any(format.mark_done(source, imported, other) for other in range(min(20, len(imported.tasks)))):
                without_place.append(id)  # unlike others: where no task has a box, no marks are expected
        marked = []
        for path in dict.fromkeys(mark.path for mark in marks.values()):
            own = {id: mark for id, mark in marks.items() if mark.path == path}
            marked += self._put(path, own, format, source, imported)
        files = [os.path.abspath(mark.path) for mark in marks.values()]
        return _Result(files, marked, problems, left, without_place)

    def _put(
        self, path: Path, marks: dict[str, Mark], format: TaskFormat, source: TaskSource, imported: ImportedTasks
    ) -> list[str]:
        """Set the fields of one file; the tasks whose field was not set before."""
        from samuel.tasks.formats.source import TaskSource

        before = source if path == source.path else TaskSource.of_file(path)
        text = before.exact_text
        new = {id: mark for id, mark in marks.items() if text[mark.start : mark.end] != mark.new}
        if not new:
            return []
        self._refuse_unsafe(path)
        data = _with_marks(text, new.values())
        if path == source.path:  # what is written can be read, and says the same but for the status
            after = format.read(TaskSource(data, path, source.name), self._origin.tag)
            if _without_status(after.tasks) != _without_status(imported.tasks):
                raise SamuelError("marking the task would change more than its status")
        if read_regular(path) != before.data:
            raise _Changed
        self._replace(path, data)
        return list(new)

    def _replace(self, path: Path, data: bytes) -> None:
        if not is_inside(path, self._root):
            atomic.write_bytes(path, data, disk=self._disk)
            return
        relative = Path(os.path.relpath(os.path.realpath(path), os.path.realpath(self._root)))
        directory = make_dirs_inside(self._root, *relative.parent.parts)  # no link on the way is followed
        try:
            atomic.write_at(directory, path.name, data, disk=self._disk)
        finally:
            os.close(directory)

    def _refuse_unsafe(self, path: Path) -> None:
        """A file that an agent may have replaced by a link to another one, or that no iteration may change."""
        expected = os.path.join(
            os.path.realpath(self._root), os.path.relpath(os.path.abspath(path), os.path.abspath(self._root))
        )
        if path.is_symlink() or (
            os.path.realpath(path) != os.path.normpath(expected) and is_below(path, self._root)
        ):
            raise SamuelError("it is reached by a symbolic link")
        relative = os.path.relpath(os.path.realpath(path), os.path.realpath(self._root))
        if any(relative == place or relative.startswith(f"{place}/") for place in paths.PROTECTED):
            raise SamuelError("it is among the files that must not change during a run; move it elsewhere")

    def _problem(self, ids: Sequence[str], why: str) -> str:
        named = listed([f"`{id}`" for id in ids], MOST_NAMED)
        label = file_name(self._origin.label)
        return f"{named} is completed, but not marked in `{label}`: {why}; it is tried again the next time"


def is_below(path: Path, root: Path) -> bool:
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root))


def only_marks(origin: TaskOrigin, path: Path, before: bytes, after: bytes) -> bool:
    """Whether two versions of a source differ in nothing but the status of tasks."""
    from samuel.tasks.formats.source import TaskSource
    from samuel.tasks.formats.table import format_named

    try:
        format = format_named(origin.format)
        sources = [TaskSource(data, path) for data in (before, after)]
        old, new = (format.read(source, origin.tag) for source in sources)
        if _without_status(old.tasks) != _without_status(new.tasks) or old.prose != new.prose:
            return False
        if sources[0].looks_like_json:  # tools that set a status there set times as well
            return True
        before_text, after_text = (
            _without_marks(source, path, format, imported)
            for source, imported in zip(sources, (old, new), strict=True)
        )
    except SamuelError:
        return False
    return before_text == after_text


_BOX = re.compile(r"^(\s*(?:[-*+]|\d+[.)])\s+)\[[^\[\]\n]\]", re.MULTILINE)


def _without_marks(source: TaskSource, path: Path, format: TaskFormat, imported: ImportedTasks) -> str:
    """The text of a source without the places of its marks, and with all boxes empty, also those of criteria."""
    indexes = range(len(imported.tasks))
    marks = (format.mark_done(source, imported, index) for index in indexes)
    places = sorted({(mark.start, mark.end) for mark in marks if mark and mark.path == path}, reverse=True)
    text = source.exact_text
    for start, end in places:
        text = f"{text[:start]} {text[end:]}"
    return _BOX.sub(r"\1[ ]", text)


def newly_marked(origin: TaskOrigin, path: Path, before: bytes, after: bytes) -> set[str] | None:
    """The tasks that `after` marks as done and `before` does not; None if any other byte differs."""
    from samuel.tasks.formats.source import TaskSource
    from samuel.tasks.formats.table import format_named

    try:
        format, source = format_named(origin.format), TaskSource(before, path)
        old, new = format.read(source, origin.tag), format.read(TaskSource(after, path), origin.tag)
    except SamuelError:
        return None
    if len(old.tasks) != len(new.tasks):
        return None
    pairs = enumerate(zip(old.tasks, new.tasks, strict=True))
    indexes = [index for index, (task, task_after) in pairs if task.status != task_after.status]
    marks = [mark for index in indexes if (mark := format.mark_done(source, old, index)) and mark.path == path]
    ids = {
        id
        for id, item in origin.items.items()
        if matching_index(old, item, stable_ids=format.stable_ids) in indexes
    }
    if len(marks) != len(indexes) or len(ids) != len(indexes):
        return None
    return ids if _with_marks(source.exact_text, marks) == after else None


def with_tasks_marked(origin: TaskOrigin, path: Path, data: bytes, ids: Iterable[str]) -> bytes:
    """The content of a source with these tasks marked as done, those of them that it has. Raises SamuelError."""
    from samuel.tasks.formats.source import TaskSource
    from samuel.tasks.formats.table import format_named

    format, source = format_named(origin.format), TaskSource(data, path)
    imported = format.read(source, origin.tag)
    indexes = (matching_index(imported, origin.items[id], stable_ids=format.stable_ids) for id in ids)
    places = (format.mark_done(source, imported, index) for index in indexes if index is not None)
    return _with_marks(source.exact_text, [mark for mark in places if mark and mark.path == path])


def with_task_unmarked(origin: TaskOrigin, path: Path, data: bytes, reference: bytes, id: str) -> bytes | None:
    """The content of a source in which a task is open again, as `reference` has it; None if it is not marked.

    Raises SamuelError for what cannot be read as tasks.
    """
    from samuel.tasks.formats.source import TaskSource
    from samuel.tasks.formats.table import format_named

    format = format_named(origin.format)
    places: list[tuple[TaskSource, Mark, str]] = []
    for content in (data, reference):
        source = TaskSource(content, path)
        imported = format.read(source, origin.tag)
        index = matching_index(imported, origin.items[id], stable_ids=format.stable_ids)
        mark = format.mark_done(source, imported, index) if index is not None else None
        if index is None or mark is None or mark.path != path:
            return None
        places.append((source, mark, imported.tasks[index].status))
    (now, mark, status), (before, old_mark, old_status) = places
    if status != "completed" or old_status == "completed":
        return None
    open_text = before.exact_text[old_mark.start : old_mark.end]
    return f"{now.exact_text[: mark.start]}{open_text}{now.exact_text[mark.end :]}".encode()


def _with_marks(text: str, marks: Iterable[Mark]) -> bytes:
    for mark in sorted(marks, key=lambda mark: mark.start, reverse=True):
        text = text[: mark.start] + mark.new + text[mark.end :]
    return text.encode()


def _without_status(tasks: Iterable[Task]) -> list[Task]:
    # Whether a task waits for others may depend on which of them are done.
    fields = {"status": "pending", "completed_at": "", "last_failure": "", "depends_on": (), "no_change": False}
    return [replace(task, **fields) for task in tasks]
