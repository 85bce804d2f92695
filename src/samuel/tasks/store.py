"""The tasks on disk: read at any time, changed by one process at a time, replaced whole.

While an agent or a check works, the tasks are sealed (`seal.py`): it may write the file, and what of that counts
is decided when the work is over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.files import atomic
from samuel.files.inside import read_inside
from samuel.files.lock import held
from samuel.files.put_inside import keep_aside, put_aside
from samuel.tasks import graph, prd_file
from samuel.tasks.prd_file import PrdDocument
from samuel.tasks.rebuild import Rebuilt
from samuel.tasks.seal import Seal, SealFile
from samuel.tasks.task import Task, Tasks

LIMIT = 256 * 1024 * 1024
WAIT = 60.0  # a change takes milliseconds, so a longer wait means that another process hangs


class TaskStore:
    """The `prd.toon` of one directory, and the lock beside it.

    `record` is the directory in the user's state where the tasks are sealed; None seals them in this process only.
    """

    def __init__(self, directory: Path, record: Path | None = None, *, disk: atomic.Disk = atomic.DISK) -> None:
        self.directory = directory
        self.path = directory / prd_file.NAME
        self._lock = directory / "state.lock"
        self._disk = disk
        self._seal = SealFile(record, disk=disk)

    @property
    def seal(self) -> Seal | None:
        """There is one while an agent or a check works, and after it was killed."""
        return self._seal.load()

    @property
    def exists(self) -> bool:
        """Whether there is a task file, even one without tasks."""
        return self.path.exists() or self._can_restore

    def load(self) -> tuple[Task, ...]:
        """The tasks as they are now. It needs no lock: the file is whole at every moment."""
        return self._read().tasks

    def change(
        self, function: Callable[[tuple[Task, ...]], Iterable[Task]], *, trusted: bool = False
    ) -> tuple[Task, ...]:
        """Replace the tasks by what `function` returns, under the lock; returns the new tasks.

        If it raises, or returns an invalid graph, the file stays as it is. A `trusted` change also counts while an
        agent or a check works; any other is judged when that work is over.
        """
        if not self.exists:
            raise self._missing()  # before a lock file is made for nothing
        self.directory.mkdir(parents=True, exist_ok=True)  # it may be gone with all that was in it
        with held(self._lock, wait=WAIT, note="changing a task"):
            old = self._read()
            seal = self.seal if trusted else None
            if seal is None:
                tasks = tuple(function(old.tasks))
            else:
                rebuilt = seal.rebuild(old.tasks)
                tasks = tuple(function(rebuilt.tasks))
                self._save(seal.with_change(rebuilt, tasks))
            if tasks != old.tasks:
                self._write(tasks, old)
        return tasks

    def open_seal(self, seal: Seal) -> str:
        """Seal the tasks as they are now. Returns why the seal could not be saved, or "" if it was."""
        with held(self._lock, wait=WAIT, note="sealing the tasks"):
            document = self._read()
            seal = seal.around(document.tasks)
            self._seal.keep_copy(prd_file.encode(document.tasks, document))
            try:
                self._seal.save(seal)
            except OSError as error:  # a home that is read-only, say
                self._seal.hold(seal)
                return f"cannot write `{error.filename}`: {error.strerror}"
        return ""

    def close_seal(self) -> Rebuilt | None:
        """Rebuild the tasks from the seal and what was allowed to be said since; None without a seal."""
        if (seal := self.seal) is None:
            return None
        with held(self._lock, wait=WAIT, note="rebuilding the tasks"):
            seal = self.seal or seal
            old, content, problem = self._read_whatever_it_is(seal)
            rebuilt = Rebuilt(seal.tasks, seal.put_back, problem=problem) if problem else seal.rebuild(old.tasks)
            rebuilt = rebuilt._replace(is_removed=not problem and not content)
            if problem or rebuilt.is_removed or rebuilt.tasks != old.tasks:
                if content and (problem or rebuilt.put_back):  # it may be a person's edit: nothing is thrown away
                    keep_aside(self.directory, prd_file.NAME, content)
                self._write(rebuilt.tasks, old)
            self._seal.clear()
        return rebuilt

    def drop_seal(self) -> None:
        """Forget the seal: the tasks in the file count as they are."""
        self._seal.clear()

    def replace_all(self, tasks: Iterable[Task]) -> None:
        """Replace everything by these tasks, the seal included."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with held(self._lock, wait=WAIT, note="writing the tasks"):
            self._seal.clear()
            self._write(tuple(tasks), prd_file.EMPTY)

    def _read(self) -> PrdDocument:
        try:
            return self._decoded(self._content())
        except FileNotFoundError:
            if self._can_restore and (seal := self.seal):
                return self._restored(seal)
            raise self._missing() from None

    def _restored(self, seal: Seal) -> PrdDocument:
        """A task file that was removed, as it was when a `samuel` last wrote it."""
        with suppress(ConfigError):
            if content := self._seal.copy():
                return self._decoded(content)
        return PrdDocument(seal.tasks, rows=tuple("" for _ in seal.tasks))

    def _content(self) -> bytes:
        return read_inside(self.directory, prd_file.NAME, limit=LIMIT)

    def _decoded(self, data: bytes) -> PrdDocument:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise ConfigError([Problem("this is not UTF-8", str(self.path), line, "save it as UTF-8")]) from None
        return prd_file.decode(text, str(self.path))

    def _read_whatever_it_is(self, seal: Seal) -> tuple[PrdDocument, bytes, str]:
        """The file, its bytes, and what is wrong with it; no bytes if it was removed.

        Anything that is not a regular file is moved aside.
        """
        content = b""
        try:
            content = self._content()
            return self._decoded(content), content, ""
        except FileNotFoundError:
            return self._restored(seal), b"", ""
        except ConfigError as error:
            return prd_file.EMPTY, content, f"`{self.path.name}` cannot be read: {error.problems[0].what}"
        except (SamuelError, OSError):
            put_aside(self.directory, self.path.name)
            return prd_file.EMPTY, b"", f"`{self.path.name}` is not a file any more"

    @property
    def _can_restore(self) -> bool:
        """Whether a task file that is missing was sealed.

        Without a run.json the whole run was deleted, unless it is under way: then its agent removed both.
        """
        seal = self.seal
        return seal is not None and (os.path.lexists(self.directory / "run.json") or seal.alive)

    def _write(self, tasks: Tasks, old: PrdDocument) -> None:
        tasks = tuple(tasks)
        if problems := graph.problems(tasks, str(self.path)):
            raise ConfigError(problems)
        text = prd_file.encode(tasks, old)
        atomic.write_text(self.path, text, disk=self._disk)
        if self.seal is not None:
            self._seal.keep_copy(text)

    def _save(self, seal: Seal) -> None:
        try:
            self._seal.save(seal)
        except OSError as error:
            raise SamuelError(
                f"a run works on these tasks, and `{error.filename}` cannot be written: {error.strerror}",
                "change the tasks from outside of the sandbox",
            ) from None

    def _missing(self) -> SamuelError:
        what = f"there are no tasks yet: `{self.path}` does not exist"
        return SamuelError(what, "`samuel run init --prd FILE` makes them from a PRD")
