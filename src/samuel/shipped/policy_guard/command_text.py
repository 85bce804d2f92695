"""The command lines in the input of a call."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

LINE_KEYS = ("command", "cmd")
ARGUMENT_KEYS = ("args", "arguments", "argv")  # beside a text at one of these: more words of the same command
LIST_KEYS = ("commands",)
SHELL = "shell"  # the name that every agent's shell tool has in Samuel


def command_lines(tool_input: Any, ability_id: str) -> Iterator[str]:
    """The texts that a shell gets: of the keys `command`, `cmd` and `commands`, at any depth of the input.

    A list at `command` or `cmd` is one command, word for word; at `commands`, it is several command lines. What is
    at `args` beside a command belongs to it.
    """
    if ability_id == SHELL and isinstance(tool_input, str):
        yield tool_input
    queue = [tool_input]
    while queue:
        value = queue.pop(0)
        if isinstance(value, Mapping):
            arguments = [_arguments(value[key]) for key in ARGUMENT_KEYS if key in value]
            for key, item in value.items():
                yield from (
                    " ".join([line, *arguments]) if key in LINE_KEYS else line for line in _lines(key, item)
                )
                queue.append(item)
        elif isinstance(value, (list, tuple)):
            queue += value


def _arguments(value: Any) -> str:
    """The arguments as a part of a command line: a list is words, a text is as a shell would read it."""
    if isinstance(value, (list, tuple)):
        return shlex.join(str(item) for item in value)
    return value if isinstance(value, str) else ""


def _lines(key: object, value: Any) -> Iterator[str]:
    texts = [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
    if isinstance(value, str) and key in (*LINE_KEYS, *LIST_KEYS):
        yield value
    elif texts and key in LINE_KEYS:
        yield shlex.join(texts)
    elif key in LIST_KEYS:
        yield from texts
