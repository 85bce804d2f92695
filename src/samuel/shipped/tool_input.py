"""What guards look for in the input of a call: command lines, directories, environments, and every other text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from samuel.events import PreAbilityCall
from samuel.shipped.event_fields import environment, extra_field

SHELL = "shell"  # the name that every agent's shell tool has in Samuel
ENVIRONMENT_KEYS = ("environment", "env", "target_environment")  # by which an input names its environment
COMMAND_KEYS = ("command", "cmd", "script", "code", "args")  # here a text of several lines names paths too
DIRECTORY_KEYS = ("cwd", "workdir", "working_directory", "directory", "dir_path")  # where a command runs
LINE_KEYS = ("command", "cmd")
ARGUMENT_KEYS = ("args", "arguments", "argv")  # beside a text at one of these: more words of the same command
LIST_KEYS = ("commands",)
MAX_DIRECTORIES = 4


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


def directories_of(event: PreAbilityCall, tool_input: Any) -> list[str]:
    """Where the call says that its command runs."""
    names = [extra_field(event, "cwd"), *(text for key, text in texts(tool_input) if key in DIRECTORY_KEYS)]
    return [name for name in names if isinstance(name, str) and name and "\0" not in name][:MAX_DIRECTORIES]


def environments_of(event: PreAbilityCall, tool_input: Any) -> Iterator[str]:
    """The environment that Samuel runs in, and those that the call names."""
    names = [environment(), *(extra_field(event, key) for key in ENVIRONMENT_KEYS)]
    names += [text for key, text in texts(tool_input) if key in ENVIRONMENT_KEYS]
    return (name for name in names if isinstance(name, str) and name)


def texts(value: Any) -> Iterator[tuple[str, str]]:
    """The texts of the input, each with its key. Those of several lines are left out, as content of a file."""
    queue = [("", value)]
    while queue:
        key, item = queue.pop()
        if isinstance(item, str):
            if "\n" not in item or key in COMMAND_KEYS:
                yield key, item
        elif isinstance(item, Mapping):
            queue += item.items()
        elif isinstance(item, (list, tuple)):
            queue += ((key, element) for element in item)


def _arguments(value: Any) -> str:
    """The arguments as a part of a command line: a list is words, a text is as a shell would read it."""
    if isinstance(value, (list, tuple)):
        return shlex.join(str(item) for item in value)
    return value if isinstance(value, str) else ""


def _lines(key: object, value: Any) -> Iterator[str]:
    items = [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
    if isinstance(value, str) and key in (*LINE_KEYS, *LIST_KEYS):
        yield value
    elif items and key in LINE_KEYS:
        yield shlex.join(items)
    elif key in LIST_KEYS:
        yield from items
