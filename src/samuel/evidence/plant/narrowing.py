"""A check command that runs the planted file alone, where that is plain from the command."""

from __future__ import annotations

import re
import shlex

from samuel.evidence.plant.planted import Plant

_BY_PATH = frozenset(("pytest", "jest", "vitest", "mocha", "ava", "node-test", "rspec", "phpunit"))
_PLAIN_PATH = re.compile(r"[\w./-]+")
_SHELL_SIGNS = re.compile(r"[;&|<>$`()*?{}\[\]#~\n\\!]")


def narrowed(command: str, plant: Plant) -> str | None:
    """The command for the file of the plant alone; None if the whole command must run.

    Only for a command that is the runner's call itself and names no file: behind make or npm, variables and steps
    would be lost. Only the tests of that file run, so a run that was cut short elsewhere is not seen with it.
    """
    path = next(iter(plant.files), "")
    if plant.kind == "changed expectation" or plant.call.directory or not _PLAIN_PATH.fullmatch(path):
        return None
    if _SHELL_SIGNS.search(command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    arguments = list(plant.call.arguments)
    if not words or "--" in words or (arguments and words[-len(arguments) :] != arguments):
        return None
    if plant.call.name == "go-test":
        directory = path.rpartition("/")[0]
        return shlex.join([*words[:-1], f"./{directory}"]) if words[-1] == "./..." else None
    own_words = 1 if plant.call.name in ("cargo", "maven") else 0  # `test`
    if any(_may_be_path(word) for word in arguments[own_words:]):
        return None
    if plant.call.name in _BY_PATH:
        return shlex.join([*words, path])
    if plant.call.name == "cargo" and (file := re.fullmatch(r"tests/([\w-]+)\.rs", path)):
        return shlex.join([*words, "--test", file[1]])
    if plant.call.name == "maven":
        return shlex.join([*words, f"-Dtest={path.rpartition('/')[2].removesuffix('.java')}"])
    return None


def _may_be_path(word: str) -> bool:
    return not word.startswith("-") and ("/" in word or "." in word or word in ("test", "tests", "spec"))
