"""Exceptions as errors with a message for the user."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Sequence

from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.files import atomic
from samuel.version import __version__

_MORE_MEMORY = "end other programs, or raise the limits of this process (`ulimit -a` shows them)"
_MORE_ROOM = "make room on that disk, then run the same command again: a run goes on where it stopped"
_READ_ONLY = "the file system is read-only"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Bug(SamuelError):
    exit_code = 3


def explained(error: Exception, arguments: Sequence[str]) -> SamuelError:
    """The error for a user. An unexpected exception is a bug, and a report of it is written."""
    if isinstance(error, SamuelError):
        return error
    if _no_memory(error):
        return _lack_of_memory()
    if isinstance(error, OSError):  # a full disk or a missing permission is not a bug of Samuel
        if error.errno == errno.EROFS and error.filename:
            return SamuelError(f"`{error.filename}` cannot be written: {_READ_ONLY}")
        return SamuelError(reason(error), _MORE_ROOM if error.errno in _NO_ROOM else "")
    if _no_thread(error):
        return SamuelError("the system does not start another thread", _MORE_MEMORY)
    try:
        return _bug(arguments, error)
    except MemoryError:  # whatever it looked like
        return _lack_of_memory()


def reason(error: Exception) -> str:
    """Why something failed, as a part of a message: an error of the system without its number."""
    if not isinstance(error, OSError):
        return str(error)
    why = _READ_ONLY if error.errno == errno.EROFS else error.strerror or str(error) or type(error).__name__
    return f"`{error.filename}`: {why}" if error.filename else why


def _lack_of_memory() -> SamuelError:
    return SamuelError("there is not enough memory", _MORE_MEMORY)


def _no_memory(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    # For a compiled module Python takes the loader's words for an ImportError.
    words = ("failed to map segment", "Cannot allocate memory", "cannot allocate memory")
    is_of_loader = isinstance(error, ImportError) and any(word in str(error) for word in words)
    return isinstance(error, MemoryError) or is_of_loader


def _no_thread(error: Exception) -> bool:
    """Did the system refuse to start a thread? Python has no exception type of its own for it."""
    return isinstance(error, RuntimeError) and str(error) == "can't start new thread"


def _bug(arguments: Sequence[str], error: Exception) -> Bug:
    """The error that names the report: a file to read and to paste into an issue, never sent anywhere."""
    text = _report(arguments, error)
    try:
        directory = paths.User.from_environment().state / "reports"
        file = directory / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.txt"
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(file, text.encode(errors="backslashreplace"), 0o600)
        hint = f"the report is in `{file}`; read it, then paste it into an issue"
    except (OSError, SamuelError):
        hint = f"paste this into an issue:\n\n{text}"
    return Bug(f"this is a bug in Samuel: {type(error).__name__}: {error}", hint)


def _report(arguments: Sequence[str], error: Exception) -> str:
    import platform  # slow to import, and hopefully never needed
    import shlex
    import traceback

    return (
        f"samuel    {__version__}\n"
        f"python    {platform.python_version()} ({sys.executable})\n"
        f"platform  {platform.platform()}\n"
        f"command   {shlex.join(['samuel', *arguments])}\n\n"
        f"{''.join(traceback.format_exception(error))}"
    )
