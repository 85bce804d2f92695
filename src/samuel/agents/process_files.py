"""The files of one agent process, in the run's state directory: prompt, output, and a `samuel` that is this one.

Each run has directories of its own, so no run writes over what another one left. An agent may write there while it
works, so nothing is opened through a link and each file is created new.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Literal

from samuel.base.errors import SamuelError
from samuel.confine.sandbox import spool
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, read_inside

LIMIT = 64 * 1024  # bytes of a script of ours
_USAGE_LIMIT = 32 * 1024 * 1024  # some programs report their usage with all that was said
LOGS = "logs"
PROMPTS = "prompts"

LogKind = Literal["output", "errors", "checks", "review", "prompt"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # of a session or a run: it becomes a file's name
_PLACES: dict[LogKind, tuple[str, str]] = {
    "output": (LOGS, ".log"),
    "errors": (LOGS, ".err"),
    "checks": (LOGS, "-checks.log"),
    "review": (LOGS, "-review.log"),
    "prompt": (PROMPTS, ".md"),
}


def is_run_name(name: str) -> bool:
    """Whether a name can be that of a run's directory in `logs` and `prompts`."""
    return _NAME.fullmatch(name) is not None


def label(iteration: int, session: str, run_id: str = "") -> str:
    """What the files of one process are called: by its session if it has one of its own, else by the iteration.

    Those of an iteration are in a directory with the id of the run.
    """
    if _NAME.fullmatch(session):
        return session
    name = f"iteration-{iteration:04d}"
    return f"{run_id}/{name}" if _NAME.fullmatch(run_id) else name


def log_path(state: Path, run_id: str, iteration: int, kind: LogKind) -> Path:
    """Where the output, errors or prompt of an iteration's agent is, or the output of its checks or reviewers."""
    folder, ending = _PLACES[kind]
    return state / folder / f"{label(iteration, '', run_id)}{ending}"


def errors_path(output: Path) -> Path:
    """Where the stderr of the agent is whose stdout is in `output`."""
    return output.with_suffix(_PLACES["errors"][1])


def written_log(output: Path) -> Path | None:
    """The file to look at for what an agent wrote: `output`, or its stderr if that is all there is, or None."""
    return next((path for path in (output, errors_path(output)) if path.is_file()), None)


def put_prompt(state: Path, label: str, prompt: str) -> Path:
    file = state / PROMPTS / f"{label}.md"
    _put(state, str(file.parent.relative_to(state)), file.name, prompt.encode(), 0o600)
    return file


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
    return state / LOGS / f"{label}.log"


@contextmanager
def fresh(state: Path, path: Path) -> Iterator[int]:
    """A new file to write and read, below the state directory; gone again when nothing came.

    What has its name already is renamed: a run that was killed does an iteration again.
    """
    directory = make_dirs_inside(state, str(path.parent.relative_to(state)))
    try:
        _make_way(path.name, directory)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(path.name, flags, 0o600, dir_fd=directory)
        try:
            yield file
            if os.fstat(file).st_size == 0:
                with suppress(OSError):  # the agent removed it, or put a directory in its place
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
            os.unlink(_usage_name(label), dir_fd=directory)
    finally:
        os.close(directory)
    return state / "usage" / _usage_name(label)


def _usage_name(label: str) -> str:
    return f"{label.replace('/', '-')}.json"


def read_usage(state: Path, label: str) -> bytes:
    """What it wrote there; b"" if that is nothing, or no plain file."""
    try:
        return read_inside(state, "usage", _usage_name(label), limit=_USAGE_LIMIT) or b""
    except (OSError, SamuelError):
        return b""


def _make_way(name: str, directory: int) -> None:
    """Rename a file of this name to `name.1`, or the first number that is free; a link is removed."""
    try:
        if stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=directory)
            return
    except FileNotFoundError:
        return
    names = set(os.listdir(directory))
    free = next(f"{name}.{number}" for number in count(1) if f"{name}.{number}" not in names)
    os.rename(name, free, src_dir_fd=directory, dst_dir_fd=directory)


def _put(state: Path, folder: str, name: str, data: bytes, mode: int) -> None:
    directory = make_dirs_inside(state, folder)
    try:
        atomic.write_at(directory, name, data, mode, durable=False)
    finally:
        os.close(directory)
