"""The paths that the commands of a shell call name, from the directories that they may run in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import cache
from typing import NamedTuple

from samuel.shell import ShellCommand

MAX_DIRECTORIES = 8
MAX_ENTRIES = 5_000  # of a directory that a pattern is looked up in

_BREAK = re.compile(r"[=:,@]")
_WILDCARD = re.compile(r"[*?[]")
_ATTACHED = re.compile(r"-[A-Za-z]\S")  # an option with its value in the same word, perhaps after more letters
MOST_LETTERS = 4  # of options in front of such a value
_HERE = re.compile(r"~\+(?=/|$)")
_FROM_THE_SHELL = re.compile(r"~(?:-|[+-]?\d+)(?:/|$)")  # directories that the shell has been in
LONGEST_PATH = 4096  # characters; the system has none that is longer


class NamedPaths(NamedTuple):
    """What one command names."""

    names: frozenset[str]
    """Relative to the project's root if they are below it."""
    directories: frozenset[str]
    """Those of them that are directories, as absolute paths."""
    complete: bool
    """False if the command may name other paths too: variables, or arguments from elsewhere."""


class CommandPaths:
    """Looks up the paths of commands that run one after another."""

    def __init__(self, root: str, directories: Sequence[str] = ()) -> None:
        self._project = ProjectPaths(root)
        self._directories = [root, *(os.path.join(root, directory) for directory in directories)]
        self._is_somewhere_else = False  # after `cd $x`: a relative path may be anything

    def follow(self, commands: Iterable[ShellCommand]) -> None:
        """Note the directories that the commands change to."""
        current = self._directories[-1]
        for command in commands:
            if command.program == "popd" or (command.words[1:2] == ("-",) and command.program == "cd"):
                self._is_somewhere_else = True
            elif command.program in ("cd", "pushd", "chdir"):
                targets = [word for word in command.words[1:] if not word.startswith("-")] or ["~"]
                current = os.path.normpath(os.path.join(current, os.path.expanduser(targets[0])))
                self._is_somewhere_else |= bool(command.unknown or command.patterns or command.open_ended)
                self._directories.append(current)
        self._is_somewhere_else |= len(self._directories) > MAX_DIRECTORIES
        del self._directories[MAX_DIRECTORIES:]

    def named_by(self, command: ShellCommand) -> NamedPaths:
        names: set[str] = set()
        directories: set[str] = set()
        complete = not (command.open_ended or command.unknown - {0})
        words = [(word, index in command.patterns) for index, word in enumerate(command.words) if index]
        words += [(redirect.target, bool(_WILDCARD.search(redirect.target))) for redirect in command.redirects]
        complete &= all(redirect.literal or _WILDCARD.search(redirect.target) for redirect in command.redirects)
        for word, is_pattern in words:
            for part in _parts(word):
                complete &= not _FROM_THE_SHELL.match(part)
                complete &= not (self._is_somewhere_else and not os.path.isabs(part) and not part.startswith("-"))
                for directory in self._directories:
                    path = os.path.normpath(os.path.join(directory, part))
                    matches = _entries(path) if is_pattern and _WILDCARD.search(part) else [path]
                    complete &= matches is not None
                    names |= {part, *self._project.named_by([path, *(matches or ())], directory)}
                    directories |= {match for match in matches or () if _is_directory(match)}
        return NamedPaths(frozenset(names), frozenset(directories), complete)

    def covers(self, directories: Iterable[str], patterns: Sequence[str]) -> bool:
        """Does one of the directories have what a pattern names below it? `rm -rf .` removes `secrets/` too."""
        heads = {os.path.normpath(head) for pattern in patterns for head in self._heads(pattern)}
        return any(
            head == directory or head.startswith(f"{directory.rstrip('/')}/")
            for directory in directories
            for head in heads
        )

    def _heads(self, pattern: str) -> Iterator[str]:
        """The parts of a pattern before its first wildcard, as absolute paths."""
        literal = _WILDCARD.split(pattern, maxsplit=1)[0]
        head = literal if literal == pattern else literal.rpartition("/")[0]
        if pattern.startswith("!") or not head.strip("/"):
            return
        inner_head = os.path.join(self._project.root, head.strip("/"))
        is_anchored = "/" in pattern.rstrip("/")
        if is_anchored or os.path.lexists(inner_head):
            yield inner_head
        if is_anchored:
            yield f"/{head.strip('/')}"


def _parts(word: str) -> Iterator[str]:
    """A word and what in it may be a path: `--file=x`, `host:/x`, `@x`, `-I/x`, `-ofile`, `~+/x`."""
    texts = {word, *_BREAK.split(word)}
    if word.startswith("-") and "/" in word:
        texts.add(word[word.index("/") :])
    if _ATTACHED.match(word):
        texts |= {word[at:] for at in range(2, min(len(word), 2 + MOST_LETTERS))}
    texts = {_HERE.sub(".", text, count=1) if text.startswith("~+") else text for text in texts}
    return (os.path.expanduser(text) if text.startswith("~") else text for text in sorted(texts) if text)


def _is_directory(path: str) -> bool:
    return len(path) < 4096 and "\0" not in path and os.path.isdir(path)


def _entries(pattern: str) -> list[str] | None:
    """The files that a pattern with wildcards in its last part stands for; None if that is not known."""
    directory, name = os.path.split(pattern)
    if _WILDCARD.search(directory) or len(pattern) > 1000:
        return None
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_ENTRIES + 1), strict=False)]
    except OSError:
        return []
    if len(names) > MAX_ENTRIES:
        return None
    return [os.path.join(directory, entry) for entry in names if fnmatch(entry, name)]


class ProjectPaths:
    """Looks up words in one project. What it reads from the disk is kept for the next word."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._root_names = set(os.listdir(root))
        self._real: Callable[[str], str] = cache(os.path.realpath)
        self._links = cache(_links)

    def named_by(self, words: Iterable[str], directory: str = "") -> Iterator[str]:
        """The paths that each word may mean, seen from `directory`; without one, from the root."""
        for word in words:
            # An input may be a megabyte of words: only those that can name a file are looked up.
            if not directory and word not in self._root_names and "/" not in word and word not in (".", ".."):
                yield word
                continue
            path = os.path.normpath(os.path.join(directory or self.root, word))
            inner_path = self.relative(path)
            yield inner_path
            possible = len(path) <= LONGEST_PATH and "\0" not in path
            if possible and (os.path.isabs(inner_path) or inner_path.partition("/")[0] in self._root_names):
                target = self.target(path)
                inner_target = target.removeprefix(f"{self._real(self.root)}/")
                yield inner_target
                if os.path.isdir(target):  # a call that names a directory may touch every file in it
                    yield from (f"{inner_path}/*", f"{inner_target}/*")

    def target(self, path: str) -> str:
        """Where an absolute path leads."""
        directory, name = self._real(os.path.dirname(path)), os.path.basename(path)
        target = os.path.join(directory, name)
        return self._real(target) if name in self._links(directory) else target

    def relative(self, path: str) -> str:
        return path.removeprefix(f"{self.root}/")


def _links(directory: str) -> set[str]:
    try:
        with os.scandir(directory) as entries:
            return {entry.name for entry in entries if entry.is_symlink()}
    except OSError:
        return set()
