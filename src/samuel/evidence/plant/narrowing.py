"""A check command that runs some test files alone, where that is plain from the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from samuel.evidence.plant.planted import CalledRunner, Plant

_BY_PATH = frozenset(("pytest", "jest", "vitest", "mocha", "ava", "node-test", "rspec", "phpunit"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PLAIN_PATH = re.compile(r"[\w./-]+")
_SHELL_SIGNS = re.compile(r"[;&|<>$`()*?{}\[\]#~\n\\!]")


def narrowed(command: str, plant: Plant) -> str | None:
    """The command for the file of the plant alone; None if the whole command must run."""
    return None if plant.kind == "changed expectation" else narrowed_to(command, plant.call, [*plant.files][:1])


def narrowed_to(command: str, call: CalledRunner, paths: Sequence[str]) -> str | None:
    """The command for these test files alone; None if the whole command must run.

    Only for a command that is the runner's call itself and names no file: behind make or npm, variables and steps
    would be lost. Only the tests of these files run, so a run that was cut short elsewhere is not seen with it.
    """
    if not paths or call.directory or not all(map(_PLAIN_PATH.fullmatch, paths)) or _SHELL_SIGNS.search(command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    arguments = list(call.arguments)
    if not words or "--" in words or (arguments and words[-len(arguments) :] != arguments):
        return None
    if call.name == "go-test":
        directories = dict.fromkeys(f"./{path.rpartition('/')[0]}" for path in paths)
        return _joined([*words[:-1], *directories]) if words[-1] == "./..." else None
    own_words = 1 if call.name in ("cargo", "maven") else 0  # `test`
    if any(_may_be_path(word) for word in arguments[own_words:]):
        return None
    if call.name in _BY_PATH:
        return _joined([*words, *paths])
    targets = [re.fullmatch(r"tests/([\w-]+)\.rs", path) for path in paths]
    if call.name == "cargo" and all(targets):
        return _joined([*words, *(word for target in targets if target for word in ("--test", target[1]))])
    if call.name == "maven":
        names = ",".join(path.rpartition("/")[2].removesuffix(".java") for path in paths)
        return _joined([*words, f"-Dtest={names}"])
    return None


def _joined(words: Sequence[str]) -> str:
    """The words as a command; `NAME=value` before it stays an assignment."""
    count = next((number for number, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))
    assignments = [
        f"{name}={shlex.quote(value)}" for name, _, value in (word.partition("=") for word in words[:count])
    ]
    return " ".join([*assignments, shlex.join(words[count:])])


def _may_be_path(word: str) -> bool:
    return not word.startswith("-") and ("/" in word or "." in word or word in ("test", "tests", "spec"))
