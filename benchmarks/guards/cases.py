"""A case of a suite: a command, and what the authors of the suite expect of a guard."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Expected = Literal["stop", "innocent", "unlisted"]
"""`unlisted`: in a suite for lists of what is allowed, a command that is not on the list. It may be harmless."""


class Case(NamedTuple):
    command: str
    expected: Expected
    group: str
    """The file or the section of the suite, to tell where the misses are."""


_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{))*`"""
SCRIPT_TEXT = re.compile(_TEXT, re.DOTALL)
"""A text of TypeScript without a value in it."""
_ESCAPE = re.compile(r"\\(u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|\r?\n|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "v": "\v"}


def script_text(literal: str) -> str:
    """What a text of TypeScript, JavaScript or Rust stands for."""
    return _ESCAPE.sub(_character, literal[1:-1])


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    if escape[0] in "ux" and len(escape) > 1:
        return chr(int(escape[1:].strip("{}"), 16))
    return "" if escape in ("\n", "\r\n") else _LETTERS.get(escape, escape)
