"""What is wrong with a text that is not TOML, in words for its author.

tomllib says where it stopped, and its words differ between versions of Python. So the statement in that line is
looked at: a table or a key that is there twice, a missing value, a value without quotes. What is none of these
keeps tomllib's message.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import NamedTuple

from samuel.base.printable import shorten
from samuel.files.toml.lines import KeyPath, Statement, dotted, path_of, statements

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_UNQUOTED_EVENT = re.compile(r"\s*\[[^\"']*:")
_WORD = re.compile(r"[A-Za-z~./][^\s\"'#,=\[\]{}\\]*")
_NAMES = re.compile(r"\(('[^']*'(?:, '[^']*')*),?\)")
_NAME = re.compile(r"'([^']*)'")


class SyntaxProblem(NamedTuple):
    """What is wrong, in which line (0 if unknown), and what to do."""

    what: str
    line: int = 0
    hint: str = ""


def syntax_problem(error: ValueError, text: str) -> SyntaxProblem:
    """`error` is what `tomllib.loads(text)` raised."""
    message = str(error)
    place = _PLACE.search(message)
    if place is None:
        return SyntaxProblem(f"not valid TOML: {message}")
    line = int(place[1]) if place[1] else text.rstrip().count("\n") + 1
    what, hint = _explained(text, line) or (_in_our_style(message[: place.start()]), "")
    return SyntaxProblem(f"not valid TOML: {what}", line, hint)


def _explained(text: str, line: int) -> tuple[str, str] | None:
    """What is wrong with the statement in this line, and what to do; None if it cannot be told."""
    before = [statement for statement in statements(text) if statement.line <= line]
    if not before:
        return None
    statement = before.pop()
    try:
        tomllib.loads(statement.text)
    except (ValueError, RecursionError):
        return _wrong_by_itself(statement)
    return _contradiction(before, statement)


def _wrong_by_itself(statement: Statement) -> tuple[str, str] | None:
    if statement.head.startswith("<<<<<<<"):
        return "it has a merge conflict", "settle it, and remove the lines that git added"
    head, equals, value = statement.text.partition("=")
    key, value = shorten(head.strip()), value.strip()
    if head.lstrip().startswith("["):
        if _UNQUOTED_EVENT.match(head):
            hint = 'a name with `:` in it needs quotes, like `[hooks."before:loop"]`'
            return f"`{shorten(statement.head)}` is not a table's name", hint
        if not statement.head.endswith("]"):
            return f"`{shorten(statement.head)}` has no closing `]`", ""
        return None
    if not equals:
        return f"`{shorten(statement.head)}` has no value", "a line is `key = value`, `[table]` or `# comment`"
    if not value or value.startswith("#"):
        return f"`{key}` has no value", f'write one after the `=`, like `{key} = "text"`'
    if value.lower() in ("true", "false"):
        return f"`{value}` is not a value", f"write `{value.lower()}`"
    if _WORD.fullmatch(value):
        return f"the value of `{key}` has no quotes", f'write `{key} = "{shorten(value)}"`'
    if value[0] in "\"'" and value.count(value[0]) == 1:
        return f"the value of `{key}` has no closing quote", ""
    if value.count("[") > value.count("]"):
        return f"the array `{key}` has no closing `]`, or a value in it is wrong", "values have quotes and commas"
    return None


def _contradiction(before: Sequence[Statement], statement: Statement) -> tuple[str, str] | None:
    """What another statement says differently: each of the two is right by itself."""
    latest: dict[KeyPath, int] = {}
    table: KeyPath = ()
    paths: list[tuple[KeyPath, Statement]] = []
    for each in (*before, statement):
        path = path_of(each.head, table, latest)
        table = path if each.is_header else table
        paths.append((path, each))
    path, _ = paths.pop()
    for other, first in paths:
        if other == path and first.is_header and statement.is_header:
            what = (
                f"the table `{shorten(statement.head)}` is in this file twice; the first is in line {first.line}"
            )
            return what, "put both under one"
        if other == path and not first.is_header and not statement.is_header:
            what = f"`{shorten(dotted(path))}` has a value twice; the first is in line {first.line}"
            return what, "keep one of them"
    for other, first in paths:
        shorter = min(len(path), len(other))
        if path[:shorter] == other[:shorter] and not (first.is_header and len(other) < len(path)):
            what = f"`{shorten(statement.head)}` does not go with line {first.line}, which is about the same name"
            return what, f"`{shorten(dotted(path[:shorter]))}` is either a value or a table; keep one of them"
    return None


def _in_our_style(message: str) -> str:
    """tomllib's message with a small letter, and with names as the file has them in place of a Python tuple."""
    message = _NAMES.sub(lambda names: f"`{'.'.join(_NAME.findall(names[1]))}`", message)
    return shorten(message[:1].lower() + message[1:], 200)
