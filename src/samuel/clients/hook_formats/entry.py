"""A file with hooks that were written for an agent: its entries, their commands and the files that these run."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from samuel.clients.hook_formats.client_hook import ClientHook
from samuel.clients.hook_formats.hook_format import HookFormat
from samuel.clients.hook_formats.matcher import ALL, CLIENT_TOOL
from samuel.clients.hook_formats.permission_rule import CLIENT_RULE
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
    of_apm: bool = False  # of a package of APM

    @property
    def path(self) -> Path:
        return self.base / self.file


class ReadEntries(Protocol):
    """Reads the hooks of a file, which are there by event: lists whose items the agent knows."""

    def __call__(self, file: ImportedFile, hooks: Mapping[str, list[Any]]) -> Iterator[Entry]:
        """The entries in the order of the file; EntryProblem where one is not what the agent accepts."""


class RawEntry(NamedTuple):
    """A hook as it is in a file."""

    file: ImportedFile
    hook_format: HookFormat
    client_event: str
    matcher: str
    fields: Mapping[str, Any]
    where: str  # its place in the file

    @property
    def event(self) -> str:
        """Samuel's event; "" if it has none."""
        return self.hook_format.events.get(self.client_event, "")

    @property
    def no_event(self) -> str:
        """Why it is left out where Samuel has no such event."""
        return "" if self.event else f"Samuel has no event for `{self.client_event}`"


def hook_entry(
    raw: RawEntry,
    *,
    match: dict[str, Any],
    left_out: Iterable[str],
    arguments: object = (),
    shell: str = "sh",
    env: Mapping[str, str] = MappingProxyType({}),
    prelude: str = "",
    blocking: bool = False,
) -> Entry:
    """The hook of an entry, which is left out for the first of these reasons that is not "".

    `env` are the variables that the agent sets beside the project's directory; `prelude` are lines that are run
    before the command.
    """
    file = raw.file
    hook = ClientHook(
        name="", client=file.client, client_event=raw.client_event, event=raw.event, matcher=raw.matcher
    )
    kind = raw.fields.get("type", "command")
    if kind != "command":
        return Entry(replace(hook, left_out=f"its type is `{kind}`, and Samuel runs commands only"), "")
    line = _command_text(raw.fields.get("command"), raw.where)
    words = _arguments(arguments, raw.where)
    # The project's directory is known when a hook of the user is called, and not before.
    directories = env if file.of_user else {**env, raw.hook_format.project_variable: str(file.base)}
    command = hook_command(prelude + line, words, shell, directories, file.base)
    hook = replace(
        hook,
        command=shlex.join((line, *words)) if words else line,
        words=command.words,
        program="" if file.of_user else command.program,
        runs=() if file.of_user else command.runs,
        env=dict(env),
        match=match,
        timeout=_seconds(raw.fields.get("timeout"), raw.where),
        blocking=blocking,
        left_out=next(filter(None, left_out), ""),
    )
    return Entry(hook, script_name(command, line))


class HookCommand(NamedTuple):
    """How a command is started."""

    words: tuple[str, ...]
    program: str  # the file of the project that it starts, "" if it starts another one
    runs: tuple[str, ...]


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


def _seconds(value: object, where: str) -> float | None:
    """The `timeout` of an entry; None if it has none."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise EntryProblem(f"`{where}.timeout` must be a number of seconds")
    return min(float(value), LONGEST_TIMEOUT)


def _command_text(command: object, where: str) -> str:
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        raise EntryProblem(f"`{where}.command` must be a command")
    return command.strip()


def _arguments(arguments: object, where: str) -> list[str]:
    if arguments == ():
        return []
    if not isinstance(arguments, list) or not all(
        isinstance(word, str) and "\0" not in word for word in arguments
    ):
        raise EntryProblem(f"`{where}.args` must be an array of text")
    return arguments


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


def rule_match(hook_format: HookFormat, rule: object) -> dict[str, Any]:
    """The filter that a permission rule means; {} without one."""
    if not rule:
        return {}
    names = {ability: list(tools) for ability, tools in hook_format.tool_names.items()}
    return {CLIENT_RULE: {"matcher": rule, "names": names, "mcp": hook_format.mcp_name}}


def objects(value: object, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of an array, each with its place in the file."""
    if not isinstance(value, list):
        raise EntryProblem(f"`{where}` must be an array")
    for position, item in enumerate(value):
        if not isinstance(item, dict):
            raise EntryProblem(f"`{where}[{position}]` must be an object")
        yield f"{where}[{position}]", item
