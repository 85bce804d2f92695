"""click's errors about a command line, in the words of all other messages."""

from __future__ import annotations

import re

import click

from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean, hint, nearest_name
from samuel.base.printable import shorten

_EXTRA = re.compile(r"(?s)Got unexpected extra argument(s?) \((.*)\)")
_QUOTED = re.compile(r"'([^']*)'")


def usage_error(error: click.ClickException) -> UsageError:
    """What was wrong with the command line, and which help to read."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "samuel"
    return UsageError(_message(error, context, command), f"see `{command} --help`")


def _message(error: click.ClickException, context: click.Context | None, command: str) -> str:
    if isinstance(error, click.NoSuchOption):
        near = hint(_nearest_option(error.option_name, context))
        what = f"`{shorten(error.option_name)}` is not an option of `{command}`"
        return f"{what}; {near}" if near else what
    if isinstance(error, click.MissingParameter) and error.param:
        return f"`{_name(error.param)}` is missing"
    if isinstance(error, click.BadParameter) and error.param:
        return _bad_value(error.param, error.message)
    if isinstance(error, click.BadOptionUsage):
        takes = "takes no value" if "does not take" in error.message else "needs a value"
        return f"`{error.option_name}` {takes}"
    if extra := _EXTRA.match(error.message):
        too_many = "are arguments" if extra[1] else "is one argument"
        return f"`{shorten(extra[2])}` {too_many} too many for `{command}`"
    return _restyled(error.format_message())


def _bad_value(param: click.Parameter, message: str) -> str:
    name, kind = _name(param), param.type
    # click's errors do not have the value, but each of these messages names it.
    value = shorten(message.partition(" is not ")[0].strip("'\""))
    if isinstance(kind, click.IntRange) or kind is click.INT:
        return f"`{name}` must be a whole number{_range(kind)}, not `{value}`"
    if isinstance(kind, click.Choice):
        near = did_you_mean(value, map(str, kind.choices))
        what = f"`{name}` must be one of {', '.join(f'`{choice}`' for choice in kind.choices)}, not `{value}`"
        return f"{what}; {near}" if near else what
    if isinstance(kind, click.Path) and not kind.file_okay and (path := _QUOTED.search(message)):
        directory = "a directory that exists" if kind.exists else "a directory"
        return f"`{name}` must be {directory}, not `{shorten(path[1])}`"
    return f"`{name}`: {_restyled(message)}"


def _range(kind: object) -> str:
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    if most is None:
        return "" if least is None else f" of {least} or more"
    return f" from {least} to {most}"


def _name(param: click.Parameter) -> str:
    """`--project`, or the name of an argument as the help has it."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or param.name or "").strip("[].").upper()


def _nearest_option(name: str, context: click.Context | None) -> str:
    """Compared without the dashes, which make short names look alike."""
    params = context.command.params if context else []
    options = {option.lstrip("-"): option for param in params for option in (*param.opts, *param.secondary_opts)}
    return options.get(nearest_name(name.lstrip("-"), options), "")


def _restyled(message: str) -> str:
    """Lower case, backticks, no full stop."""
    message = _QUOTED.sub(r"`\1`", message.removesuffix("."))
    return message[:1].lower() + message[1:]
