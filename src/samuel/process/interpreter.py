"""From a hook file to the command that runs it.

The kernel could read the shebang line itself. We read it to find out beforehand, and in plain words, why a
file would not run; to skip version managers' shims, which cost 95 ms a call; and to start Python with a path
on which nothing is shadowed.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from samuel.base.printable import shell_word
from samuel.process import shim
from samuel.process.compiled_python import EXACTLY
from samuel.process.reason import NotRunnable

# A Python script's own directory leads sys.path, so a `json.py` beside a hook would replace the standard
# library's in every hook there. This runs the file as `python file` would, but with that directory at the
# end: helpers can be imported and nothing is shadowed. It drops the '' that -c puts first, and leaves in
# `__main__` just the names that a script finds there. SourceFileLoader compiles without inheriting __future__
# flags from here, and decodes the file as Python itself would. Helpers are compiled as `compile_exactly` does.
_SOURCE = "__loader__.get_data(__file__)"
PRELUDE = (
    "import sys;del sys.argv[0];sys.path[:1]==['']and sys.path.pop(0);"
    "from os.path import dirname as d,realpath as r;from importlib.machinery import SourceFileLoader as l;"
    f"{EXACTLY}"
    "__file__=sys.argv[0];sys.path.append(d(r(__file__)));__loader__=l('__main__',__file__);del sys,d,r,l;"
    f"exec(__loader__.source_to_code({_SOURCE},__file__))"
)
_HEAD_BYTES = 4096

_BINARIES = (
    b"\x7fELF",
    # Mach-O: 32 and 64 bit in either byte order, and universal
    *(b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"),
)
_SHELLS = frozenset(("sh", "bash", "dash", "ash", "ksh", "zsh", "fish"))
_PYTHONS = ("python", "pypy")


class Start(NamedTuple):
    """How a file says that it is to be started."""

    program: str = ""  # its interpreter; a name without `/` is looked up; "": the kernel starts the file itself
    flags: tuple[str, ...] = ()
    is_python: bool = False


def command(
    file: str | Path, *args: str, path: str, pycache: str, cache_dir: Path | None = None, fd: int | None = None
) -> list[str]:
    """The argv that runs `file` with `args`, or NotRunnable with the reason.

    `path` is where `#!/usr/bin/env name` looks; relative entries of it are skipped, for they would mean
    another program in each working directory. Python keeps compiled modules under `pycache` ("" for beside
    the source). `cache_dir` is where answers of shims are kept. With `fd` the file was opened already, and what is
    behind its name by now does not matter.
    """
    name = os.path.abspath(file)
    try:
        status = os.stat(name if fd is None else fd)
    except OSError as error:
        raise NotRunnable(_missing(name, error)) from error
    return [*_argv(name, _read(name, status, fd), path, pycache, cache_dir), *args]


def _missing(name: str, error: OSError) -> str:
    if os.path.islink(name):
        return f"`{name}` is a link to something that does not exist"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"`{name}` does not exist"
    return f"`{name}` cannot be looked at: {error.strerror}"


def is_binary(fd: int) -> bool:
    """Whether the kernel starts an opened file without an interpreter."""
    return os.pread(fd, 4, 0).startswith(_BINARIES)


def is_python_start(argv: Sequence[str], file: str) -> bool:
    """Whether this command has Python run the script `file` in our way."""
    return PRELUDE in argv and argv[argv.index(PRELUDE) + 1] == file


def with_source(argv: Sequence[str], fd: int) -> list[str]:
    """Such a command with the source of the script from a descriptor, which the interpreter closes."""
    source = f"(lambda o:(o.pread({fd},o.fstat({fd}).st_size,0),o.close({fd}))[0])(__import__('os'))"
    return [word.replace(_SOURCE, source) if word == PRELUDE else word for word in argv]


def _read(name: str, status: os.stat_result, fd: int | None) -> Start:
    if stat.S_ISDIR(status.st_mode):
        raise NotRunnable(f"`{name}` is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise NotRunnable(f"`{name}` is not a regular file")
    if status.st_size == 0:
        raise NotRunnable(f"`{name}` is empty")
    if not os.access(name, os.X_OK):
        raise NotRunnable(f"`{name}` is not executable; `chmod +x {shell_word(name)}`")
    try:
        head = _head(name) if fd is None else os.pread(fd, _HEAD_BYTES, 0)
    except OSError as error:
        # A binary runs without being readable; only the kernel can tell.
        if isinstance(error, PermissionError):
            return Start()
        raise NotRunnable(_missing(name, error)) from error
    if head.startswith(_BINARIES):
        return Start()
    return _script(name, head)


def _head(name: str) -> bytes:
    with open(name, "rb") as file:
        return file.read(_HEAD_BYTES)


def _script(name: str, head: bytes) -> Start:
    """How a script says that it is to be started, by its first line."""
    if head.startswith(b"\xef\xbb\xbf#!"):
        raise NotRunnable(f"`{name}` begins with a byte order mark; save it as UTF-8 without BOM")
    if not head.startswith(b"#!"):
        raise NotRunnable(f"`{name}` has no shebang line; begin it with one like `#!/usr/bin/env python3`")
    line = os.fsdecode(head[2:].split(b"\n", 1)[0])
    program, _, argument = line.strip().replace("\t", " ").partition(" ")
    if not program:
        raise NotRunnable(f"`{name}` has a shebang line that names no interpreter")
    argument = argument.strip()
    flags = [argument] if argument else []  # the kernel passes the rest of the line as one argument
    if from_env := os.path.basename(program) == "env":
        words = _words(name, argument.removeprefix("-S"))
        if not words or words[0].startswith("-") or "=" in words[0]:
            return Start()  # something clever; env itself knows best
        program, *flags = words
    elif "/" not in program:
        _refuse_relative(name, program)
    base = os.path.basename(program)
    if line.endswith("\r") and base in _SHELLS:
        raise NotRunnable(f"`{name}` has Windows line ends (CRLF), which `{base}` cannot read; save it with LF")
    is_python = base.startswith(_PYTHONS)
    if is_python and not from_env:
        flags = _words(name, " ".join(flags))
    return Start(program, tuple(flags), is_python)


def _argv(name: str, start: Start, path: str, pycache: str, cache_dir: Path | None) -> list[str]:
    program = start.program
    if not program:
        return [name]
    interpreter = program if "/" in program else look_up(program, path)
    if not interpreter:
        raise NotRunnable(f"`{name}` needs `{program}`, which was not found on PATH ({path})")
    _check(name, interpreter)
    if not start.is_python:
        return [interpreter, *start.flags, name]
    if shim.is_shim(interpreter):
        interpreter = shim.behind(interpreter, path, cache_dir)
    return _python(interpreter, start.flags, name, pycache)


def look_up(program: str, path: str) -> str:
    """The first such program on `path`, or nothing."""
    for directory in path.split(os.pathsep):
        candidate = os.path.join(directory, program)
        # Most directories do not have it, which one system call tells.
        if os.path.isabs(directory) and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    return ""


def _check(name: str, interpreter: str) -> None:
    if not os.path.isabs(interpreter):
        _refuse_relative(name, interpreter)
    if not os.path.exists(interpreter):
        raise NotRunnable(f"`{name}` names the interpreter `{interpreter}`, which does not exist")
    if os.path.isdir(interpreter) or not os.access(interpreter, os.X_OK):
        raise NotRunnable(f"`{name}` names the interpreter `{interpreter}`, which cannot be run")


def _refuse_relative(name: str, interpreter: str) -> NoReturn:
    raise NotRunnable(f"`{name}` names its interpreter `{interpreter}` by a relative path; use `#!/usr/bin/env …`")


def _words(name: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise NotRunnable(f"`{name}` has a shebang line that cannot be read: {error}") from error


def _python(python: str, flags: tuple[str, ...], name: str, pycache: str) -> list[str]:
    if "-m" in flags or "-c" in flags:  # then the file is data for some module, not the program
        return [python, *flags, name]
    prefix = ["-X", f"pycache_prefix={pycache}"] if pycache else []
    return [python, *flags, *prefix, "-c", PRELUDE, name]
