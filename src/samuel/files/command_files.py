"""The files of a project that a command line names, as far as can be told without a shell."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from samuel.files.modules import module_file

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
