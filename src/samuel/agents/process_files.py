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

from samuel.errors import SamuelError
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, read_inside
from samuel.process.sandbox import spool

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


def launcher(state: Path, sandbox: str) -> str:
    """How an agent in this kind of sandbox calls `samuel`, whatever its shell does to PATH.

    In a container it is the script that stands in for Samuel there.
    """
    folder = spool.SHIM if sandbox == "oci" else "bin"
    return shlex.quote(os.path.join(os.path.realpath(state), folder, "samuel"))


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


def usage_file(state: Path, label: str) -> Path:
    """Where a program writes its usage when it ends; what an earlier one wrote there is gone."""
    directory = make_dirs_inside(state, "usage")
    try:
        with suppress(FileNotFoundError):
            os.unlink(f"{label}.json", dir_fd=directory)
    finally:
        os.close(directory)
    return state / "usage" / f"{label}.json"


def read_usage(state: Path, label: str) -> bytes:
    """What it wrote there; b"" if that is nothing, or no plain file."""
    try:
        return read_inside(state, "usage", f"{label}.json", limit=LIMIT) or b""
    except (OSError, SamuelError):
        return b""


def _put(state: Path, folder: str, name: str, data: bytes, mode: int) -> None:
    directory = make_dirs_inside(state, folder)
    try:
        atomic.write_at(directory, name, data, mode, durable=False)
    finally:
        os.close(directory)
