"""The edge: where exceptions become messages and exit codes, once, and nowhere else.

0    ok
1    the answer is no, or it failed
2    the command or the configuration is wrong
3    a bug in Samuel; a report to paste is written
130  interrupted
141  whoever read the output went away
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time
import traceback
from collections.abc import Sequence

import click

from samuel import paths
from samuel.cli.output import Output
from samuel.cli.root import samuel
from samuel.errors import SamuelError, UsageError
from samuel.files import atomic
from samuel.version import __version__


def run(arguments: Sequence[str]) -> int:
    """Run one command line, and give its exit code."""
    out = Output(json="--json" in arguments)
    _never_fail_to_encode()
    try:
        code = samuel.main(list(arguments), prog_name="samuel", standalone_mode=False, obj=out)
        sys.stdout.flush()  # a reader that went away is noticed here, not while Python shuts down
        return int(code or 0)
    except SamuelError as error:
        return out.fail(error)
    except click.exceptions.NoArgsIsHelpError as error:
        out.tell(error.format_message())
        return error.exit_code
    except click.UsageError as error:
        return out.fail(_usage(error))
    except click.Abort:
        out.tell("interrupted")
        return 130
    except BrokenPipeError:
        _forget_stdout()
        return 1  # as click does, which notices most of these itself
    except OSError as error:  # a full disk or a missing permission is no bug of ours
        return out.fail(SamuelError(_os_error(error)))
    except Exception as error:  # noqa: BLE001  the edge
        return _bug(out, arguments, error)


def _usage(error: click.UsageError) -> UsageError:
    command = error.ctx.command_path if error.ctx else "samuel"
    return UsageError(error.format_message(), f"see `{command} --help`")


def _os_error(error: OSError) -> str:
    why = error.strerror or str(error) or type(error).__name__
    return f"`{error.filename}`: {why}" if error.filename else why


def _bug(out: Output, arguments: Sequence[str], error: Exception) -> int:
    report = _report(arguments, error)
    directory = paths.User.from_environment().state / "reports"
    file = directory / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.txt"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(file, report.encode(errors="backslashreplace"), 0o600)
        hint = f"The report is in `{file}`. Read it, then paste it into an issue."
    except OSError:
        hint = f"Paste this into an issue:\n\n{report}"
    bug = SamuelError(f"this is a bug in Samuel: {type(error).__name__}: {error}", hint)
    bug.exit_code = 3
    return out.fail(bug)


def _report(arguments: Sequence[str], error: Exception) -> str:
    return (
        f"samuel    {__version__}\n"
        f"python    {platform.python_version()} ({sys.executable})\n"
        f"platform  {platform.platform()}\n"
        f"command   {shlex.join(['samuel', *arguments])}\n\n"
        f"{''.join(traceback.format_exception(error))}"
    )


def _never_fail_to_encode() -> None:
    """A terminal that knows no `…` gets an escape, not an exception."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    # What is still buffered would raise again while Python shuts down.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
