"""The command line: click's parser and its errors, with the endings of every command around them."""

from __future__ import annotations

from collections.abc import Sequence

import click

from samuel.cli.endings import with_endings
from samuel.cli.output import Output
from samuel.cli.root import samuel
from samuel.cli.usage import usage_error
from samuel.process.emit_client import DeadlinePassed


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    out = Output(json=_asks_for_json(arguments))
    return with_endings(out, arguments, lambda: _run(arguments, out))


def _run(arguments: Sequence[str], out: Output) -> int:
    try:
        return int(samuel.main(list(arguments), prog_name="samuel", standalone_mode=False, obj=out) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        out.tell(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        return out.fail(usage_error(error))
    except click.Abort as abort:
        if isinstance(abort.__cause__, DeadlinePassed):  # click takes it for Ctrl-C
            raise abort.__cause__ from None
        out.tell("interrupted")
        return out.ending(130)


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
