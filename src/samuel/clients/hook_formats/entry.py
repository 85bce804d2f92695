"""A file with hooks that were written for an agent: its entries, their commands and the files that these run."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from samuel.clients.hook_formats.client_hook import ClientHook
from samuel.clients.hook_formats.hook_format import HookFormat
from samuel.clients.hook_formats.matcher import ALL, CLIENT_TOOL
from samuel.files.command_files import expanded, named_files

LONGEST_TIMEOUT = 24 * 3600.0

_PATH = re.compile(r"(?:[\w.~$][\w.~${}@%+:-]*)?/[\w./${}@%+:-]*[\w]")
_REDIRECT = re.compile(r"[0-9&]?>{1,2}[|&]?")


class EntryProblem(ValueError):
    """The file is not what its agent accepts; `line` is 0 where it is not known."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


class Entry(NamedTuple):
    """A hook that has no name yet, and the file name of its script ("" if it runs none of the project)."""

    hook: ClientHook
    script: str


class ImportedFile(NamedTuple):
    """A file that may have hooks of an agent."""

    client: str
    file: str  # relative to `base`, or absolute
    base: Path  # the project, or the home directory
    plugin: str = ""  # the directory of the plugin that it belongs to
    of_user: bool = False  # of the user's home directory, for all projects

    @property
    def path(self) -> Path:
        return self.base / self.file


class ReadEntries(Protocol):
    """Reads the hooks of a file, which are there by event: lists whose items the agent knows."""

    def __call__(self, file: ImportedFile, hooks: Mapping[str, list[Any]]) -> Iterator[Entry]:
        """The entries in the order of the file; EntryProblem where one is not what the agent accepts."""


class HookCommand(NamedTuple):
    """How a command is started."""

    text: str
    words: tuple[str, ...]
    program: str  # the file of the project that it starts, "" if it starts another one
    runs: tuple[str, ...]


def other_kind(kind: object, file: ImportedFile, client_event: str, event: str, matcher: str) -> Entry:
    """The entry of a hook that is not a command."""
    hook = ClientHook(
        name="",
        client=file.client,
        client_event=client_event,
        event=event,
        matcher=matcher,
        left_out=f"its type is `{kind}`, and Samuel runs commands only",
    )
    return Entry(hook, "")


def no_event(client_event: str, event: str) -> str:
    """Why a hook of an event that Samuel does not have is left out."""
    return "" if event else f"Samuel has no event for `{client_event}`"


def hook_command(
    line: str, arguments: list[str], shell: str, directories: Mapping[str, str], root: Path
) -> HookCommand:
    """A command line for `shell`, or with `arguments` a program that is started without one.

    `directories` are the variables that the agent sets, like CLAUDE_PROJECT_DIR. The files that a command runs are
    those of the project, in `root`, that it names.
    """
    plain = [expanded(word, directories) for word in (line, *arguments)]
    words = tuple(plain) if arguments else (shell, "-c", line)
    return HookCommand(
        shlex.join((line, *arguments)) if arguments else line,
        words,
        _program(plain[0] if arguments else " ".join(_words(plain[0])[:1]), root),
        tuple(named_files(plain, root)),
    )


def _program(word: str, root: Path) -> str:
    path = os.path.normpath(os.path.join(root, word))
    return path if "/" in word and path.startswith(f"{root}{os.sep}") else ""


def script_name(command: HookCommand, line: str) -> str:
    """The name of the script that a command runs, without its ending, for the name of the hook; "" for none."""
    names = [os.path.basename(path) for path in (command.program, *command.runs) if path and os.path.isfile(path)]
    if not names:
        names = [os.path.basename(word) for word in _named_programs(line)]
    name = names[0].rpartition(".")[0] or names[0] if names else ""
    plain = "".join(character if character.isalnum() or character in "._-" else "-" for character in name)
    return plain.strip("-.")[:60]


def _named_programs(line: str) -> Iterator[str]:
    """The words of a command line that are paths, but for files that it writes to.

    Not every word with a `/` in it is one: a filter of `jq` may have one, too.
    """
    before = ""
    for word in _words(line):
        if _PATH.fullmatch(word) and not _REDIRECT.fullmatch(before) and not word.startswith("/dev/"):
            yield word
        before = word


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def seconds(value: object, where: str) -> float | None:
    """The `timeout` of an entry; None if it has none."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise EntryProblem(f"`{where}.timeout` must be a number of seconds")
    return min(float(value), LONGEST_TIMEOUT)


def command_text(entry: Mapping[str, Any], where: str) -> str:
    command = entry.get("command")
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        raise EntryProblem(f"`{where}.command` must be a command")
    return command.strip()


def matcher_text(entry: Mapping[str, Any], where: str) -> str:
    matcher = entry.get("matcher", "")
    if not isinstance(matcher, str):
        raise EntryProblem(f"`{where}.matcher` must be text")
    return matcher


def tool_match(hook_format: HookFormat, matcher: str) -> dict[str, Any]:
    """The filter that a matcher on tools means; {} if it is for all tools."""
    if matcher in ALL:
        return {}
    names = {ability: list(tools) for ability, tools in hook_format.tool_names.items()}
    return {CLIENT_TOOL: {"matcher": matcher, "names": names, "mcp": hook_format.mcp_name}}


def first_reason(*reasons: str) -> str:
    return next(filter(None, reasons), "")


def objects(value: object, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of an array, each with its place in the file."""
    if not isinstance(value, list):
        raise EntryProblem(f"`{where}` must be an array")
    for position, item in enumerate(value):
        if not isinstance(item, dict):
            raise EntryProblem(f"`{where}[{position}]` must be an object")
        yield f"{where}[{position}]", item
