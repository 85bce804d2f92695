"""Why a program does not start, in words that say what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence

from samuel.base.errors import SamuelError
from samuel.base.printable import safe, shell_word


class NotRunnable(SamuelError):
    """Nothing was started. The message is the reason."""


class NotGranted(NotRunnable):
    """A place that was granted is not what it should be, such as a symbolic link: the plugin is refused."""


def why_not(error: OSError | ValueError, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> str:
    """The reason behind what `subprocess.Popen` raised.

    The kernel has one word, "no such file", for a missing program, a missing interpreter of a program that is
    there, and a missing working directory. Here each is told apart.
    """
    if not argv:
        return "there is no program to run: the command is empty"
    if isinstance(error, ValueError):  # a NUL, a `=` in a name, text that the file system cannot encode
        return f"`{safe(argv[0])}` cannot be given its arguments or environment: {error}"
    if not os.path.isdir(cwd):
        return f"the working directory `{cwd}` does not exist"
    if error.errno == errno.E2BIG:
        return f"the arguments and environment of `{argv[0]}` are longer than the system allows"
    if error.errno in (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EISDIR):
        return _about_the_file(error, argv[0], cwd, env)
    return f"`{argv[0]}` could not be started: {error.strerror}"


def _about_the_file(error: OSError, program: str, cwd: str, env: Mapping[str, str]) -> str:
    if "/" not in program:
        if error.errno == errno.ENOENT:
            return f"`{program}` was not found on PATH ({env.get('PATH') or 'which is not set'})"
        return f"`{program}` on PATH cannot be run: {error.strerror}"
    path = os.path.join(cwd, program)
    if os.path.isdir(path):
        return f"`{program}` is a directory"
    if not os.path.lexists(path):
        return f"`{program}` does not exist"
    if not os.path.exists(path):
        return f"`{program}` is a link to something that does not exist"
    if not os.access(path, os.X_OK):
        return f"`{program}` is not executable; `chmod +x {shell_word(program)}`"
    if error.errno == errno.ENOEXEC:
        return f"`{program}` has no shebang line (`#!/bin/sh`) and is not a program for this machine"
    return f"`{program}` names an interpreter that cannot be run: {_shebang(path) or error.strerror}"


def _shebang(path: str) -> str:
    try:
        with open(path, "rb") as file:
            line = file.readline(256)
    except OSError:
        return ""
    # A stray CR at its end, shown as \\r, is a common reason why an interpreter "does not exist".
    text = line.rstrip(b"\n").decode(errors="replace").replace("\r", "\\r")
    return f"`{text}`" if text.startswith("#!") else ""
