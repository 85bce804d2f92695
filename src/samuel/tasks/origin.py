"""Where the tasks came from: the source, its format, and what each task was called there.

It is kept beside the record of a run, where a sandboxed agent cannot write: write-back and `samuel run sync` must
not be led to another file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.base.printable import listed
from samuel.files import atomic
from samuel.files.inside import is_inside
from samuel.files.regular import read_regular
from samuel.tasks.task import Task

# Every `samuel run` command looks up where the tasks came from; few of them read tasks.
if TYPE_CHECKING:
    from samuel.tasks.formats.base import ImportedTasks
    from samuel.tasks.formats.source import TaskSource
    from samuel.tasks.importing import TaskImport

FILE = "origins.json"
LOOKED_AT = 500  # tasks: in some formats finding a place takes as long as reading the file
MOST_NAMED = 5
_OWN_FIELDS = ("status", "completed_at", "last_failure", "iteration", "source")  # not what the source says of it


class SourceItem(msgspec.Struct, frozen=True):
    """What a task was in its source when that was last read."""

    id: str
    title: str
    digest: str


class TaskOrigin(msgspec.Struct, frozen=True, kw_only=True):
    path: str  # relative to the project's root if it is below it; "" is no file
    name: str = ""  # of what is no file; "" is standard input
    reference: str = ""  # how what is no file is read again, as its reader wrote it; "": it cannot be
    format: str
    tag: str = ""
    digest: str = ""  # of the source
    files: tuple[str, ...] = ()  # what write-back changes, as absolute paths
    write_back: bool = True
    items: dict[str, SourceItem] = {}  # by the id of a task

    @property
    def label(self) -> str:
        return self.path or self.name or "standard input"

    @property
    def key(self) -> tuple[str, str, str]:
        """The same for the same source."""
        return self.path, self.reference, self.tag

    def file(self, root: Path) -> Path:
        return root / self.path


class Origins(msgspec.Struct, frozen=True):
    origins: tuple[TaskOrigin, ...] = ()
    unwritten: tuple[str, ...] = ()  # completed tasks that are not marked in their source yet
    named: tuple[str, ...] = ()  # sources of which it was said that they have no place for the mark of a task


class OriginFile:
    """The origins of one state directory."""

    def __init__(self, directory: Path, disk: atomic.Disk = atomic.DISK) -> None:
        self._directory = directory
        self._disk = disk

    def load(self) -> Origins:
        try:
            return decode_json(read_regular(self._directory / FILE), Origins)
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return Origins()

    def save(self, origins: Origins) -> None:
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(self._directory / FILE, msgspec.json.encode(origins), 0o600, disk=self._disk)

    def add(self, origin: TaskOrigin) -> None:
        """Add the origin of more tasks; one of the same source is replaced."""
        before = self.load()
        others = tuple(other for other in before.origins if other.key != origin.key)
        self.save(replace(before, origins=(*others, origin)))


def origin_directory(state: Path, record: Path | None) -> Path:
    """Where the origins are kept: where a sandboxed agent cannot write, if there is such a place."""
    if record is not None:
        with suppress(OSError):  # a home that is read-only
            record.mkdir(parents=True, exist_ok=True, mode=0o700)
            return record
    return state


def origin_of(task_import: TaskImport, root: Path, *, write_back: bool) -> TaskOrigin:
    """The origin of tasks that were just read; their ids are those of the source."""
    imported, source = task_import.imported, task_import.source
    return TaskOrigin(
        path=_relative(source.path, root) if source.path else "",
        name=source.name if source.reference else "",
        reference=source.reference,
        format=task_import.format.name,
        tag=imported.tag,
        digest=digest_of(source),
        files=_marked_files(task_import),
        write_back=write_back and bool(task_import.format.marks) and source.path is not None,
        items=items_of(imported.tasks),
    )


def without_place(task_import: TaskImport, *, write_back: bool = True) -> str:
    """Which tasks the source has no place to mark as done, in words; "" if it has one for each."""
    imported, source = task_import.imported, task_import.source
    if not write_back or source.path is None or not task_import.format.marks:
        return ""
    looked_at = imported.tasks[:LOOKED_AT]
    mark_done = task_import.format.mark_done
    ids = [task.id for index, task in enumerate(looked_at) if not mark_done(source, imported, index)]
    if not ids or len(ids) == len(looked_at):  # where no task has a box, no marks are expected
        return ""
    tasks = f"{listed([f'`{id}`' for id in ids], MOST_NAMED)} {'is' if len(ids) == 1 else 'are'}"
    return f"{source.name}: {tasks} not marked there when completed: {no_place(task_import.format.marks)}"


def no_place(marks: str) -> str:
    """Why a task cannot be marked as done, of a format that marks tasks in this way."""
    if "box" in marks:
        return "a box (`- [ ] `) is a place for that, and a heading without one is not"
    return f"{marks}, and there is no such field"


def items_of(tasks: Iterable[Task]) -> dict[str, SourceItem]:
    return {task.id: source_item(task) for task in tasks}


def source_item(task: Task) -> SourceItem:
    plain = {name: value for name, value in task.plain().items() if name not in _OWN_FIELDS}
    digest = hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()[:16]
    return SourceItem(task.id, task.title, digest)


def digest_of(source: TaskSource) -> str:
    return hashlib.sha256(source.data).hexdigest()


def matching_index(imported: ImportedTasks, item: SourceItem, *, stable_ids: bool) -> int | None:
    """Which task of a source an item is now: never another one that has taken its number. None if it is gone."""
    same_id = [index for index, task in enumerate(imported.tasks) if task.id == item.id]
    if same_id and (stable_ids or imported.tasks[same_id[0]].title == item.title):
        return same_id[0]
    same_title = [index for index, task in enumerate(imported.tasks) if task.title == item.title]
    return same_title[0] if len(same_title) == 1 and not stable_ids else None


def _marked_files(task_import: TaskImport) -> tuple[str, ...]:
    imported, source = task_import.imported, task_import.source
    for index in range(min(len(imported.tasks), 20)):
        if mark := task_import.format.mark_done(source, imported, index):
            return (os.path.abspath(mark.path),)
    return (os.path.abspath(source.path),) if source.path else ()


def _relative(path: Path, root: Path) -> str:
    if is_inside(path, root):
        directory = os.path.relpath(os.path.realpath(path.parent), os.path.realpath(root))
        return os.path.normpath(os.path.join(directory, path.name))
    return os.path.abspath(path)
