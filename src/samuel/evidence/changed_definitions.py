"""The definitions of a source file whose lines changed, by name; in any language that is indented as usual.

A reader, no parser: a definition reaches from its line to the next line that is indented no deeper. What it does
not recognise belongs to the definition around it, or to the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

MOST_LINES = 20_000
MOST_CALLERS = 20
LONGEST = 200  # characters of a line that are read
_BEFORE = (
    r"(?:(?:export|default|pub(?:\([\w: ]+\))?|async|static|const|unsafe|public|private|protected|final)\s+)*"
)
_NAMED = re.compile(
    rf"{_BEFORE}(?:def|class|function\*?|fn|trait|struct|enum|union|interface|mod|func|macro_rules!|object|module)"
    r"\s+(?:\([^()]*\)\s*)?(\w+)"
)
_IMPLEMENTED = re.compile(r"(?:unsafe\s+)?impl\b(?:<[^>]*>)?\s*(?:[\w:<>, ]+\sfor\s)?\s*(\w+)")
_ASSIGNED = re.compile(
    rf"{_BEFORE}(?:(?:let|var)\s+)?(?:[\w$]+\.)*([\w$]+)\s*[:=]\s*(?:async\s*)?(?:function\b|\(.*=>|\w+\s*=>)"
)
_NOT_NAMES = frozenset(("if", "for", "while", "switch", "catch", "match", "function"))


class _Line(NamedTuple):
    indent: int
    name: str
    """The name that it defines; "" if it defines none."""


class _Outline(NamedTuple):
    """The lines of a file, and for each one that which it is inside of: the last one before it, indented less."""

    texts: list[str]
    lines: list[_Line]
    outer: list[int]

    def around(self, number: int) -> tuple[str, ...]:
        """The definitions around a line, the innermost first; its own is the first of them."""
        names: list[str] = []
        while number >= 0 and self.lines:
            if self.lines[number].name:
                names.append(self.lines[number].name)
            number = self.outer[number]
        return tuple(names)


def changed_definitions(old: str, new: str) -> tuple[tuple[str, ...], ...]:
    """For each place that changed the definitions around it, the innermost first; () for a place in none."""
    outline = _outline(new)
    before, after = old.splitlines()[:MOST_LINES], outline.texts
    chains: dict[tuple[str, ...], None] = {}
    for tag, _, _, start, end in SequenceMatcher(None, before, after).get_opcodes():
        if tag == "equal":
            continue
        for number in range(start, max(end, start + 1)):
            if tag == "delete" or after[number].strip():
                chains[outline.around(min(number, len(after) - 1))] = None
    return tuple(chains)


def names_around(texts: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """The names, and those of the definitions in these sources that name them, the closest first.

    () if one of them is called outside of all definitions: then what loads the file runs it.
    """
    sources = [*texts]
    closest = dict.fromkeys(name for name in names if not name.startswith("__"))
    for number in range(MOST_CALLERS):  # the callers of callers as well
        if number >= len(closest):
            break
        name = [*closest][number]
        mention = re.compile(rf"\b{re.escape(name)}\b(\s*\()?")
        for outline in (_outline(text) for text in sources if name in text):
            for at, match in (
                (at, match) for at, line in enumerate(outline.texts) if (match := mention.search(line))
            ):
                callers = outline.around(at)
                if not callers and match[1] and outline.lines[at].name != name:
                    return ()
                closest.update(dict.fromkeys(caller for caller in callers if not caller.startswith("__")))
    return tuple(closest)


@lru_cache(maxsize=512)
def _outline(text: str) -> _Outline:
    texts = text.splitlines()[:MOST_LINES]
    lines = [_line(each) for each in texts]
    outer: list[int] = []
    inside_of: list[int] = []  # the lines that the next one may be inside of
    for number, line in enumerate(lines):
        while inside_of and lines[inside_of[-1]].indent >= line.indent:
            inside_of.pop()
        outer.append(inside_of[-1] if inside_of else -1)
        inside_of.append(number)
    return _Outline(texts, lines, outer)


def _line(text: str) -> _Line:
    stripped = text.strip()
    if not stripped:
        return _Line(1 << 20, "")
    is_inside = stripped[0] in ")]}{"  # the end of a list of parameters, or a brace below its head
    return _Line(len(text) - len(text.lstrip()) + is_inside, _name(stripped[:LONGEST]))


def _name(text: str) -> str:
    for pattern in (_NAMED, _IMPLEMENTED, _ASSIGNED):
        if match := pattern.match(text):
            return match[1] if match[1] != "exports" else ""
    head = text.partition("(")[0].rstrip() if text.endswith("{") and "(" in text else ""
    word = head.split()[-1].lstrip("*&") if head and "=" not in head else ""
    return word if word.isidentifier() and word not in _NOT_NAMES else ""
