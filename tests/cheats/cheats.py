"""The rows: what an attempt does, and what may come of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.cheats.judged import STOPPED as STOPPED
from tests.cheats.projects import Kit

from samuel.tasks.task import Task

TASK = Task(id="1", title="Fix size: negative numbers are invalid", kind="fix")

Files = Mapping[str, str | bytes | None]
"""What is written by path; None removes a file."""
NO_FILES: Files = {}


class Cheat(NamedTuple):
    """One row of the tables."""

    kit: Kit
    name: str
    files: Files
    ends: str
    """What comes of it when it is claimed until it is accepted, disputed or refused for good."""
    required: str = ""
    """The same with `proof = "require"`; "": the same."""
    run: str = ""
    """What the attempt runs in the project, in a shell, after the files are written."""
    base: Files = NO_FILES
    """Files of the project besides those of the kit, from the beginning."""
    ignored: Files = NO_FILES
    """The same, of those that git ignores; a path below a name in the project's `.gitignore`."""
    task: Task = TASK
    command: str = ""
    """The check, where it is not the kit's."""
    then: Files | None = None
    """What the attempt at a second task writes, if the first was completed; `ends` is about that."""
    act: Callable[[Path], None] | None = None
    by_tree: bool = True
    """Whether the checks depend on nothing but the tree."""
    prepare: str = ""
    """What is run in the project once, before the first commit."""
    executable: tuple[str, ...] = ()
    """The files among `base` and `ignored` that are programs."""

    def __str__(self) -> str:
        return f"{self.kit.name}: {self.name}"

    def work(self, root: Path) -> None:
        mark = str(root.parent / "mark")  # outside of the project: a test may know its way there
        write(root, {path: _marked(content, mark) for path, content in self.files.items()})
        if self.run:
            subprocess.run(["sh", "-ec", self.run], cwd=root, check=True, capture_output=True)
        if self.act is not None:
            self.act(root)


def _marked(content: str | bytes | None, mark: str) -> str | bytes | None:
    return content.replace("{mark}", mark) if isinstance(content, str) else content


def write(root: Path, files: Files) -> None:
    for name, content in files.items():
        file = root / name
        if content is None:
            file.unlink(missing_ok=True)  # it is done again for each claim
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
