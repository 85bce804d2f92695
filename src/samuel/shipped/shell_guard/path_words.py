"""From a word of a command to the paths that it may stand for: `~`, `$HOME`, assigned variables, `*`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

LONGEST_PATH = 4096
MAX_CANDIDATES = 8

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?[-=]([^{}$`]*))?\})")
_UNKNOWN = re.compile(r"\$|`|\{\}")  # `{}`: what find, xargs and parallel fill in
_WILDCARD = re.compile(r"[*?\[]")
_ALL = re.compile(r"(?:\*\*?|\.\*|\{\*,\.\*\}|\.\[!?.*|\?\*)(?:/\*\*?)*")
_ECHO = re.compile(r"\$\(\s*(?:echo|printf)\s+[\"']?([^\s$`|;&()%\"']+)[\"']?\s*\)")
_HERE = re.compile(r"\$\(\s*pwd\s*\)|`\s*pwd\s*`")
_TEMPORARY_FILE = re.compile(r"\$\(\s*mktemp\b[^)]*\)|`\s*mktemp\b[^`]*`")


class PathWord(NamedTuple):
    """One path that a word may stand for, before it is looked up."""

    path: str
    """Empty if nothing of it is known."""
    contents: bool = False
    """Does the word stand for everything in the directory `path`, or for something unknown in it?"""
    pattern: str = ""
    """A pattern of names in the directory `path`."""


class ShellVariables:
    """What is known of variables: those that every shell has, and those that the text assigns."""

    def __init__(self, assignments: Iterable[str], environment: Mapping[str, str], root: str) -> None:
        self._values: dict[str, list[str]] = {"PWD": ["."]}  # wherever the command runs
        for name, default in (("HOME", ""), ("TMPDIR", "/tmp"), ("USER", ""), ("LOGNAME", "")):
            if value := environment.get(name) or default:
                self._values[name] = [value]
        self.assigned: set[str] = set()
        for assignment in assignments:
            name, equals, value = assignment.partition("=")
            if equals and re.fullmatch(r"\w+", name):
                self.assigned.add(name)
                self._values.setdefault(name, []).append(_TEMPORARY_FILE.sub("/tmp/mktemp", value))

    def filled_in(self, text: str) -> list[str]:
        """The texts that a word with variables may become; a variable that is not known stays as it is."""
        texts = [_ECHO.sub(r"\1", _HERE.sub("$PWD", _TEMPORARY_FILE.sub("/tmp/mktemp", text)))]
        for _ in range(4):  # values may have variables in turn
            filled = list(dict.fromkeys(more for text in texts for more in self._once(text)))[:MAX_CANDIDATES]
            if filled == texts:
                break
            texts = filled
        return texts

    def _once(self, text: str) -> list[str]:
        match = _VARIABLE.search(text)
        position = 0
        while match:
            name = match[1] or match[2]
            values = [*self._values.get(name, ()), *([match[3]] if match[3] is not None else [])]
            if values:
                before, after = text[: match.start()], text[match.end() :]
                return [f"{before}{value}{after}" for value in values if f"${name}" not in value]
            position = match.end()
            match = _VARIABLE.search(text, position)
        return [text]


def path_words(word: str, directories: Sequence[str], variables: ShellVariables) -> Iterator[PathWord]:
    """The paths that a word may stand for, from each of the directories."""
    for text in variables.filled_in(word):
        expanded = _expanded(text)
        unknown = _UNKNOWN.search(expanded)
        if unknown:
            yield from _partly_known(expanded[: unknown.start()], directories)
            continue
        for directory in directories or ("/",):
            path = os.path.join(directory, expanded)
            if len(path) < LONGEST_PATH and "\0" not in path:
                yield _with_wildcards(path)


def _partly_known(head: str, directories: Sequence[str]) -> Iterator[PathWord]:
    if not head or head in ("-", '"'):
        yield PathWord("")
        return
    for directory in directories:
        path = os.path.join(directory, head)
        # `build-$x` is a name in the directory; of `dir/$x` only the directory is known
        yield PathWord(path, contents=True) if path.endswith("/") else PathWord(path)


def _expanded(text: str) -> str:
    if text.startswith("~+"):
        return f".{text[2:]}"
    expanded = os.path.expanduser(text) if text.startswith("~") else text
    return f"/home/{expanded[1:]}" if expanded.startswith("~") else expanded  # a user who is not known here


def _with_wildcards(path: str) -> PathWord:
    wildcard = _WILDCARD.search(path)
    if not wildcard:
        return PathWord(path)
    directory, _, name = path[: wildcard.start()].rpartition("/")
    rest = path[len(directory) + 1 :] if directory or path.startswith("/") else path
    is_all = not name and bool(_ALL.fullmatch(rest))
    return PathWord(directory or "/", contents=True, pattern="" if is_all else rest)
