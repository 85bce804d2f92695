"""The files of a project that a command line names, as far as can be told without a shell.

A function of a project is in a file, by its path, or in a module, by its dotted name. A module of the project is
the file it is in: nothing else of the project can be imported.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

_WORD_BREAK = re.compile(r"""[\s"'`=;|&<>()]+""")  # where a shell would end a word


def expanded(word: str, variables: Mapping[str, str]) -> str:
    """The word with the values of these environment variables in it, as far as can be told without a shell."""
    for name, value in variables.items():
        word = word.replace(f"${{{name}}}", value).replace(f"${name}", value)
    return word


def named_files(words: Iterable[str], root: Path) -> Iterator[str]:
    """The files of the project that these words name, whether they exist yet or not."""
    pieces = [piece for word in words for piece in _pieces(word)]
    modules = [after for before, after in pairwise(pieces) if before == "-m"]
    for name in dict.fromkeys([*pieces, *(module_file(name, root) for name in modules)]):
        path = os.path.normpath(os.path.join(root, name))
        if name and not name.startswith("-") and path.startswith(f"{root}{os.sep}") and not os.path.isdir(path):
            yield path


def _pieces(word: str) -> Iterator[str]:
    """A word may be a command itself, as after `bash -c`, or hold a name, as in `--file=name`."""
    yield word
    with suppress(ValueError):  # an unclosed quote
        yield from shlex.split(word)
    yield from _WORD_BREAK.split(word)


def is_file(where: str) -> bool:
    """Whether this is the path of a file, not the name of a module."""
    return where.endswith(".py") or "/" in where


def module_file(name: str, root: Path) -> str:
    """The file below `root` that a module is; "" for one that comes from elsewhere."""
    inside = name.replace(".", "/")
    return next((file for file in (f"{inside}.py", f"{inside}/__init__.py") if (root / file).is_file()), "")
