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
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

import click

from samuel.cli.output import STDOUT, Output
from samuel.cli.root import samuel
from samuel.errors import UsageError
from samuel.explained import explained
from samuel.files.named_errors import errors_naming


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    code = _run(arguments)
    for stream in (sys.stdout, sys.stderr):
        _leave_nothing_buffered(stream)
    return code


def _run(arguments: Sequence[str]) -> int:
    out = Output(json=_asks_for_json(arguments))
    _open_what_is_closed()
    _never_fail_to_encode()
    try:
        code = samuel.main(list(arguments), prog_name="samuel", standalone_mode=False, obj=out)
        with errors_naming(STDOUT):
            sys.stdout.flush()  # a reader that went away is noticed here, not while Python shuts down
        return int(code or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        out.tell(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        return out.fail(_usage(error))
    except click.Abort:
        out.tell("interrupted")
        return out.ending(130)
    except BrokenPipeError:
        _discard(sys.stdout)
        return out.ending(1)
    except SystemExit as ended:  # click: 0 after it printed shell completions, 1 if the reader went away
        return out.ending(ended.code if isinstance(ended.code, int) else 1)
    except Exception as error:  # noqa: BLE001  the edge
        if isinstance(error, OSError) and error.filename == STDOUT:
            _discard(sys.stdout)
        return out.fail(explained(error, arguments))


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Is `--json` one of the options? Not if it is the value of another option or stands after `--`.

    Found without click's parser, because the answer also decides how its errors are shown.
    """
    if "--json" not in arguments:
        return False
    command: click.Command | None = samuel
    words = iter(arguments)
    for word in words:
        if word in ("--json", "--"):
            return word == "--json"
        if word.startswith("-"):
            if _takes_value(command, word):
                next(words, None)
        elif isinstance(command, click.Group):
            command = command.get_command(click.Context(command), word)
    return False


def _takes_value(command: click.Command | None, option: str) -> bool:
    """Does this option of the command have its value in the next word?"""
    options = [param for param in command.params if isinstance(param, click.Option)] if command else []
    return any(option in (*param.opts, *param.secondary_opts) and not param.is_flag for param in options)


def _usage(error: click.ClickException) -> UsageError:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return UsageError(error.format_message(), f"see `{context.command_path if context else 'samuel'} --help`")


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
