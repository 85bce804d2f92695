"""Exceptions as errors with a message for the user."""

from __future__ import annotations

from collections.abc import Sequence

from samuel.errors import SamuelError

_MORE_MEMORY = "end other programs, or raise the limits of this process (`ulimit -a` shows them)"


def explained(error: Exception, arguments: Sequence[str]) -> SamuelError:
    """The error for a user. An exception that nobody expected is a bug, and a report of it is written."""
    if isinstance(error, SamuelError):
        return error
    if isinstance(error, OSError):  # a full disk or a missing permission is not a bug of Samuel
        return SamuelError(_os_error(error))
    if isinstance(error, MemoryError):
        return SamuelError("there is not enough memory", _MORE_MEMORY)
    if _no_thread(error):
        return SamuelError("the system does not start another thread", _MORE_MEMORY)
    from samuel.cli.bug import report  # slow to import, and hopefully never needed

    return report(arguments, error)


def _no_thread(error: Exception) -> bool:
    """Did the system refuse to start a thread? Python has no exception type of its own for it."""
    return isinstance(error, RuntimeError) and str(error) == "can't start new thread"


def _os_error(error: OSError) -> str:
    why = error.strerror or str(error) or type(error).__name__
    return f"`{error.filename}`: {why}" if error.filename else why
