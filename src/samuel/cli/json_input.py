"""JSON and text that a command is given: on the command line itself, in a file, or on stdin.

Every option that takes JSON takes it in the same four ways: the JSON itself if it begins with `{` or `[`, `@FILE`,
`FILE`, or `-` for stdin.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from samuel.base.errors import UsageError
from samuel.files.json import EXAMPLE, MAX_BYTES, parse_json, within_limit

METAVAR = "JSON|FILE|-"

Option = Callable[[Callable[..., Any]], Callable[..., Any]]


def json_input_option(flag: str, name: str, *, help: str, default: str = "") -> Option:
    """A click option for JSON; `read_json` reads its value."""
    return click.option(flag, name, metavar=METAVAR, default=default, help=help)


def read_json(value: str, option: str, directory: Path) -> Any:
    """The JSON value that an option was given. Files are named from `directory`."""
    if value.lstrip().startswith(("{", "[")):
        return parse_json(within_limit(value.encode(errors="replace"), f"`{option}`"), f"`{option}`")
    if value == "-":
        return parse_json(read_stdin(), "stdin")
    name = value.removeprefix("@")
    if not name.strip():
        raise UsageError(f"`{option}` is empty", EXAMPLE)
    return parse_json(_read_file(directory / name, name, option), f"`{name}`")


def read_json_object(value: str, option: str, directory: Path) -> dict[str, Any]:
    """Like `read_json`, for an option that takes an object."""
    json_value = read_json(value, option, directory)
    if not isinstance(json_value, dict):
        raise UsageError(f"`{option}` must be a JSON object", EXAMPLE)
    return json_value


def read_text(value: str) -> str:
    """The text of an argument; `-` stands for stdin. What is not UTF-8 is replaced: no record could hold it."""
    text = read_stdin().decode(errors="replace") if value == "-" else value
    return text.encode(errors="replace").decode()


def read_stdin() -> bytes:
    return within_limit(sys.stdin.buffer.read(MAX_BYTES + 1), "stdin")


def _read_file(path: Path, name: str, option: str) -> bytes:
    try:
        with path.open("rb") as file:
            return within_limit(file.read(MAX_BYTES + 1), f"`{name}`")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = f"`{option}` takes JSON that begins with {{ or [, the name of a file, or `-` for stdin"
        raise UsageError(f"cannot read the file `{name}`: {why}", hint) from None
