"""TOML texts: their values, their keys as text, and the line of each key, which tomllib does not give.

The text is cut into tokens, only as finely as needed to tell where a statement ends: strings and comments are
skipped whole, brackets are counted, and a line end outside of all brackets ends the statement.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

DEEPEST = 50
"""Levels of nesting, and parts of a dotted key: more than any config needs, and less than tomllib can parse."""

# Every alternative is possessive (`++`, `*+`) and none requires its closing quote, so each character is looked at
# a bounded number of times, also in a text that is not valid TOML.
_BARE = r"[A-Za-z0-9_-]++"
_BASIC = r'"(?:[^"\\\n]++|\\[^\n])*+"?'
_LITERAL = r"'[^'\n]*+'?"
_TOKEN = re.compile(
    rf"""
      "{{3}} (?: [^"\\]++ | \\. | "(?!"") )*+ "{{0,5}}     # a multi-line string may end in quotes of its own
    | '{{3}} (?: [^']++ | '(?!'') )*+ '{{0,5}}
    | (?P<deep> (?: (?:{_BARE}|{_BASIC}|{_LITERAL}) [ \t]*+ \. [ \t]*+ ){{{DEEPEST}}} )
    | {_BASIC} | {_LITERAL} | {_BARE}
    | \#[^\n]*+
    | [=\[\]{{}}\n]
    """,
    re.VERBOSE | re.DOTALL,
)
TOO_DEEP = f"nests deeper than {DEEPEST} levels"
KeyPath = tuple[str | int, ...]
"""The path of a value: keys from the outside in, with a number for an item of an array."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class KeyLines:
    """The line of every key of a file."""

    def __init__(self, at: Mapping[KeyPath, int]) -> None:
        self._at = at

    def of(self, path: KeyPath) -> int:
        """The line of `path`, or of the nearest table around it; 0 if there is none."""
        while path and path not in self._at:
            path = path[:-1]
        return self._at.get(path, 0)


def toml_lines(text: str) -> KeyLines:
    """The line of every key of a valid TOML text.

    A key inside an array or an inline table has the line on which the statement begins, even if the statement has
    several lines.
    """
    return KeyLines(_locate(text))


def too_deep(text: str) -> int | None:
    """The first line, if any, that nests deeper than DEEPEST. `text` need not be valid TOML.

    Checked before tomllib parses: it recurses on brackets and takes quadratic time for a long dotted key.
    """
    return next((line for token, line, depth in _tokens(text) if token["deep"] or depth > DEEPEST), None)


def _locate(text: str) -> dict[KeyPath, int]:
    at: dict[KeyPath, int] = {}
    latest: dict[KeyPath, int] = {}  # an array of tables -> the index of the item being filled
    table: KeyPath = ()
    for statement in statements(text):
        path = path_of(statement.head, table, latest)
        if statement.is_header:
            table = path
        for end in range(1, len(path) + 1):  # `[a.b]` may be the first mention of `a`
            at.setdefault(path[:end], statement.line)
    return at


class Statement(NamedTuple):
    """A header or an assignment."""

    line: int
    head: str  # `[header]`, or the key: the text before `=`
    text: str

    @property
    def is_header(self) -> bool:
        return self.head.startswith("[")


def path_of(head: str, table: KeyPath, latest: dict[KeyPath, int]) -> KeyPath:
    """Where a statement that follows the header of `table` leads.

    `latest` has the index of the item that is being filled for each array of tables; a header `[[array]]` begins
    the next one.
    """
    if not head.startswith("["):
        return (*table, *_names(head))
    path = _entered(_names(head.strip("[]")), latest)
    if head.startswith("[["):
        latest[path] = latest.get(path, -1) + 1
        path = (*path, latest[path])
    return path


def statements(text: str) -> Iterator[Statement]:
    """The statements of a TOML text. In one that is not valid, the last may have an open bracket."""
    start, head_end, first_line = 0, None, 1
    for token, line, depth in _tokens(f"{text}\n"):
        mark = token[0][0]
        if head_end is None and mark in "=#\n":
            head_end = token.start()
        if mark == "\n" and depth == 0:
            head = text[start:head_end].strip()
            if head:
                yield Statement(first_line, head, text[start : token.start()])
            start, head_end, first_line = token.end(), None, line + 1
    if rest := text[start:].strip():
        yield Statement(first_line, text[start:head_end].strip(), rest)


def _tokens(text: str) -> Iterator[tuple[re.Match[str], int, int]]:
    """Each token, the line it starts on, and how many brackets are open after it."""
    line, depth = 1, 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        depth += (mark in ("[", "{")) - (mark in ("]", "}"))
        yield token, line, depth
        line += mark.count("\n")


def _names(key: str) -> tuple[str, ...]:
    """`hooks."quality.check".order` -> its three names, escapes resolved."""
    if is_bare(key):
        return (key,)
    names = []
    inner: object = tomllib.loads(f"{key} = 0")
    while isinstance(inner, dict):
        ((name, inner),) = inner.items()
        names.append(name)
    return tuple(names)


def _entered(names: tuple[str, ...], latest: dict[KeyPath, int]) -> KeyPath:
    """The path a header leads to: a name that is an array of tables means the array's latest item."""
    path: KeyPath = ()
    for name in names:
        path = (*path, latest[path], name) if path in latest else (*path, name)
    return path


class TomlTooDeep(ValueError):
    """A text that tomllib would not parse within Python's stack."""

    def __init__(self, line: int) -> None:
        super().__init__(f"it {TOO_DEEP} (at line {line})")
        self.line = line


def toml_values(text: str) -> dict[str, Any]:
    """The values of a TOML text. Raises ValueError for whatever is wrong with it."""
    if (line := too_deep(text)) is not None:
        raise TomlTooDeep(line)
    return tomllib.loads(text)


def is_bare(key: str) -> bool:
    return _BARE_KEY.fullmatch(key) is not None


def quoted(key: str) -> str:
    return '"' + "".join(map(_escaped, key.replace("\\", "\\\\").replace('"', '\\"'))) + '"'


def toml_key(key: str) -> str:
    return key if is_bare(key) else quoted(key)


def dotted(path: Sequence[str | int]) -> str:
    """`hooks."quality.check".handlers[0]`"""
    parts = (f"[{part}]" if isinstance(part, int) else f".{toml_key(part)}" for part in path)
    return "".join(parts).removeprefix(".")


def _escaped(character: str) -> str:
    """TOML has no `\\x1b`, which `printable.safe` writes."""
    if character.isprintable():
        return character
    return f"\\u{ord(character):04X}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08X}"
