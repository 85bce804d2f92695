"""A program that is opened once: what is started is what the permit was given for.

The kernel starts a binary by its descriptor, so another file of the same name does not matter any more; the
program's own `/proc/self/exe` and `argv[0]` are what they always are. A Python script is read here, and the
interpreter is given exactly these bytes. Any other interpreter opens its script by name, since a script finds
itself and the files beside it by its name: it is compared right before that, and its answer counts only if
it is still the same afterwards.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from samuel.files.regular import LARGEST, open_regular
from samuel.files.survey import signature
from samuel.files.unnamed import unnamed_file
from samuel.process import interpreter
from samuel.process.reason import NotRunnable
from samuel.trust.content import ContentChanged, TrustedContent
from samuel.trust.digests import read_opened


class OpenedProgram(NamedTuple):
    """How a program is started, as `spawn.run` takes it."""

    argv: list[str]
    executable: str | None = None
    pass_fds: tuple[int, ...] = ()


class ProgramSearch(NamedTuple):
    """Where interpreters are looked for, and where they keep what they compile."""

    path: str
    pycache: str
    cache: Path


@contextmanager
def opened_program(
    file: str, arguments: tuple[str, ...], search: ProgramSearch, content: TrustedContent, *, by_name: bool = False
) -> Iterator[OpenedProgram]:
    """The command that runs `file`, while its descriptors are open. Raises NotRunnable and ContentChanged.

    With `by_name` it is only compared before it is started: in a plugin's walls it has no other descriptors.
    """
    trusted = content.files.get(file)
    if trusted is None:
        if content.covers(file):
            raise ContentChanged(file)
        yield OpenedProgram(_command(file, arguments, search))
        return
    try:
        fd = open_regular(file)
    except FileNotFoundError as error:
        raise NotRunnable(f"`{file}` does not exist") from error
    except OSError as error:  # a binary runs without being readable, but then it cannot have been agreed to
        raise ContentChanged(file) from error
    fds = [fd]
    try:
        # On some file systems an open file has other times than its name; then its content tells.
        if not trusted.is_opened_as(signature(os.fstat(fd))) and not content.has(
            file, read_opened(fd, file, 0)[0]
        ):
            raise ContentChanged(file)
        argv = _command(file, arguments, search, fd)
        if by_name:
            yield OpenedProgram(argv)
        elif interpreter.is_python_start(argv, file):
            digest, source = read_opened(fd, file, LARGEST)
            content.check(file, digest)
            fds.append(source_fd := _in_memory(source))
            yield OpenedProgram(interpreter.with_source(argv, source_fd), pass_fds=(source_fd,))
        elif interpreter.is_binary(fd) and sys.platform == "linux":
            # By the descriptor of this process: the program gets no descriptor more than it always has.
            yield OpenedProgram(argv, f"/proc/{os.getpid()}/fd/{fd}")
        else:
            yield OpenedProgram(argv)
    finally:
        for opened in fds:
            os.close(opened)


def _command(file: str, arguments: tuple[str, ...], search: ProgramSearch, fd: int | None = None) -> list[str]:
    path, pycache, cache = search
    return interpreter.command(file, *arguments, path=path, pycache=pycache, cache_dir=cache, fd=fd)


def _in_memory(data: bytes) -> int:
    fd = unnamed_file("samuel-script")
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    return fd
