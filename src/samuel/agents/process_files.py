"""The files of one agent process, in the run's state directory: prompt, output, and a `samuel` that is this one.

An agent may write there while it works, so nothing is opened through a link and each file is made anew.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, read_inside

LIMIT = 64 * 1024  # bytes of a script of ours

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # it becomes a file's name


def label(iteration: int, session: str) -> str:
    """What the files of one process are called: by its session if it has one of its own, else by the iteration."""
    return session if _SESSION.fullmatch(session) else f"iteration-{iteration:04d}"


def put_prompt(state: Path, label: str, prompt: str) -> Path:
    name = f"{label}.md"
    _put(state, "prompts", name, prompt.encode(), 0o600)
    return state / "prompts" / name


def put_samuel(state: Path) -> Path:
    """A directory for PATH, in which `samuel` is the one that is running now."""
    # -P: what lies in the project must not be imported for what lies in Samuel.
    script = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m samuel "$@"\n'
    try:
        _put(state, "bin", "samuel", script.encode(), 0o755)
    except OSError as error:
        # In a sandbox an agent may call abilities, and finds the one that was put there for it.
        if error.errno != errno.EROFS or read_inside(state, "bin", "samuel", limit=LIMIT) != script.encode():
            raise
    return state / "bin"


def log(state: Path, label: str) -> Path:
    return state / "logs" / f"{label}.log"


@contextmanager
def fresh(path: Path) -> Iterator[int]:
    """A new file to write and read; gone again when nothing came."""
    directory = make_dirs_inside(path.parent.parent, path.parent.name)
    try:
        with suppress(FileNotFoundError):
            os.unlink(path.name, dir_fd=directory)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(path.name, flags, 0o600, dir_fd=directory)
        try:
            yield file
            if os.fstat(file).st_size == 0:
                os.unlink(path.name, dir_fd=directory)
        finally:
            os.close(file)
    finally:
        os.close(directory)


def lines(file: int, longest: int = 16 * 1024 * 1024) -> Iterator[bytes]:
    """From the beginning; a line longer than that comes in pieces."""
    os.lseek(file, 0, os.SEEK_SET)
    with open(file, "rb", closefd=False) as reader:
        while line := reader.readline(longest):
            yield line


def _put(state: Path, folder: str, name: str, data: bytes, mode: int) -> None:
    directory = make_dirs_inside(state, folder)
    try:
        atomic.write_at(directory, name, data, mode, durable=False)
    finally:
        os.close(directory)
