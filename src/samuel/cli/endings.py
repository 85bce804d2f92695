"""Where exceptions become messages and exit codes: once, and nowhere else.

0    ok
1    failed or denied, also for lack of memory or disk space; or, without a message, the output was closed
2    wrong usage or configuration
3    a bug in Samuel; a report for an issue is written
130  interrupted
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TextIO

from samuel.base.errors import SamuelError
from samuel.cli.output import STDERR_FD, STDOUT, Output
from samuel.emit.call import DENY
from samuel.files.atomic import errors_naming
from samuel.files.explained import explained
from samuel.process.emit_client import DeadlinePassed


def with_endings(out: Output, arguments: Sequence[str], command: Callable[[], int]) -> int:
    """Run a command and return its exit code, whatever happens in it. `arguments` are for the report of a bug."""
    _open_what_is_closed()
    _never_fail_to_encode()
    code = _ended(out, arguments, command)
    for stream in (sys.stdout, sys.stderr):
        _leave_nothing_buffered(stream)
    return code


def _ended(out: Output, arguments: Sequence[str], command: Callable[[], int]) -> int:
    try:
        code = command()
        with errors_naming(STDOUT):
            sys.stdout.flush()  # a reader that went away is noticed here, not while Python shuts down
        return code
    except DeadlinePassed as passed:
        return out.fail(SamuelError(passed.message, passed.hint))
    except (KeyboardInterrupt, EOFError):
        out.write(STDERR_FD, "\n")  # after the ^C of a terminal
        out.tell("interrupted")
        return out.ending(130)
    except BrokenPipeError:
        _discard(sys.stdout)
        if out.failure == DENY:  # without a reason, Codex takes it for a fault of the hook, and goes on
            out.tell("error: the answer cannot be delivered, so this is denied")
        return out.ending(1)
    except SystemExit as ended:  # click: 0 after it printed shell completions, 1 if the reader went away
        return out.ending(ended.code if isinstance(ended.code, int) else 1)
    except Exception as error:  # noqa: BLE001  the edge
        if isinstance(error, OSError) and error.filename == STDOUT:
            _discard(sys.stdout)
        return out.fail(explained(error, arguments))


def _open_what_is_closed() -> None:
    """Started as `samuel ... >&-`, Python has None for that stream, and the next file opened gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  for as long as we live


def _never_fail_to_encode() -> None:
    """A terminal that cannot encode `…` gets an escape sequence instead of an exception."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _leave_nothing_buffered(stream: TextIO) -> None:
    """Flush a stream. What cannot be written would fail again while Python shuts down, with exit code 120."""
    try:
        stream.flush()
    except OSError:
        _discard(stream)


def _discard(stream: TextIO) -> None:
    """Send the rest of a stream that cannot be written to /dev/null."""
    with suppress(OSError):  # a stream of a program that calls this within itself may have no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
