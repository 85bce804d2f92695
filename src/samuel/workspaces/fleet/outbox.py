"""What an attempt left in the state directory of a machine, on its way to the coordinator's."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from samuel.agents.process_files import LOGS, PROMPTS
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.paths import Project
from samuel.files.inside import make_dirs_inside, open_inside, read_inside
from samuel.journal.writer import oldest_first
from samuel.prompts import background
from samuel.workspaces.fleet.wire import FileLine
from samuel.workspaces.lanes.collect import append_journal

JOURNAL, PROGRESS = "journal", "progress"
PIECE = 192 * 1024
MOST = 32 * 1024 * 1024  # bytes of one file: of a longer one, the end
_NAME = re.compile(rf"({LOGS}|{PROMPTS})(/[A-Za-z0-9_][A-Za-z0-9._-]{{0,150}}){{1,2}}")


class Outbox:
    """The directory of a machine in which one attempt leaves its files."""

    def __init__(self, directory: Path, texts: dict[str, str]) -> None:
        """`texts` are the files that the attempt reads, by name."""
        self.directory = directory
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True, mode=0o700)
        self._texts = texts
        for name, text in texts.items():
            if re.fullmatch(r"[a-z][a-z0-9-]*\.md", name) or name == background.DOCUMENTS:
                (directory / name).write_text(text)

    @property
    def journal(self) -> Path:
        return self.directory / JOURNAL

    def send(self, progress: str, send: Callable[[FileLine], None]) -> None:
        """Send all of it. `progress` is the name of the file that the attempt appended to."""
        for folder in (LOGS, PROMPTS):
            for file in sorted((self.directory / folder).rglob("*")):
                if file.is_file() and not file.is_symlink():
                    name = str(file.relative_to(self.directory))
                    self._send_file(name, name, 0, send)
        for segment in oldest_first(str(self.journal)) if self.journal.is_dir() else ():
            self._send_file(f"{JOURNAL}/{segment}", JOURNAL, 0, send)
        before = len(self._texts.get(progress, "").encode())
        self._send_file(progress, PROGRESS, before, send)

    def _send_file(self, path: str, name: str, skipped: int, send: Callable[[FileLine], None]) -> None:
        with suppress(OSError, SamuelError):
            content = read_inside(self.directory, *Path(path).parts, limit=1 << 31)[skipped:][-MOST:]
            for start in range(0, len(content), PIECE):
                send(FileLine(name, content[start : start + PIECE]))


class Inbox:
    """Takes the files of one attempt into the state of the project. The names come from another machine."""

    def __init__(self, project: Workplace) -> None:
        self._project = project
        self._journal = bytearray()
        self._left = 8 * MOST

    def take(self, line: FileLine) -> None:
        """Raises SamuelError for a name that no attempt has."""
        self._left -= len(line.content)
        if self._left < 0:
            return
        if line.name == JOURNAL:
            self._journal += line.content
        elif line.name == PROGRESS:
            self._project.append(self._project.progress, line.content)
        elif _NAME.fullmatch(line.name) and ".." not in line.name:
            self._append(line)
        else:
            raise SamuelError(f"`{line.name}` is not the name of a file that an attempt leaves")

    def finish(self) -> None:
        """Append the journal, whole lines at once: others write to it too."""
        with suppress(OSError):
            append_journal(Project(self._project.root).journal, bytes(self._journal))
        self._journal.clear()

    def _append(self, line: FileLine) -> None:
        folder, *parts = line.name.split("/")
        with suppress(OSError):
            os.close(make_dirs_inside(self._project.state, folder, *parts[:-1], mode=0o755))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            fd = open_inside(self._project.state, folder, *parts, flags=flags, mode=0o644)
            with open(fd, "ab") as file:
                file.write(line.content)
