"""A PRD's headings and checklists as entries, each with the text below it. What they mean is for others to say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from samuel.tasks.annotations import Title, title

SECTION = re.compile(r"\b(tasks?|implementation|steps?|work items?)\b", re.IGNORECASE)
_HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<text>.*?)\s*#*\s*$")
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d+[.)])\s+\[(?P<box>.?)\](?:\s+(?P<text>.*?))?\s*$")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_FENCE = re.compile(r"\s*(?:[-*+]\s+)?(`{3,}|~{3,})")


class Line(NamedTuple):
    number: int
    text: str
    code: bool = False

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


@dataclass
class Entry:
    title: Title
    line: int
    done: bool
    level: int  # of a heading; 0 is an item of a checklist
    indent: int  # of an item
    parent: Entry | None
    body: list[Line] = field(default_factory=list)


@dataclass
class Outline:
    entries: list[Entry] = field(default_factory=list)
    sections: list[Line] = field(default_factory=list)  # the headings under which tasks were looked for
    strange: list[Line] = field(default_factory=list)  # items whose box or title cannot be read
    unnumbered: list[Line] = field(default_factory=list)  # headings in them that are no tasks, nor below one
    outside: list[Line] = field(default_factory=list)  # numbered items that stand in none of these sections


def lines(text: str) -> Iterator[Line]:
    """The lines of a Markdown file: code is marked as such, what is commented out is left out."""
    fence = ""
    commented = False
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip().expandtabs(4)
        if fence:
            yield Line(number, line, code=True)
            closing = line.strip()
            if closing.startswith(fence) and not closing.strip(fence[0]):
                fence = ""
        elif commented or line.lstrip().startswith("<!--"):
            commented = "-->" not in line
        elif opening := _FENCE.match(line):
            fence = opening[1]
            yield Line(number, line, code=True)
        else:
            yield Line(number, line)


def outline(text: str, *, everywhere: bool = False) -> Outline:
    """The entries in the sections for tasks; with `everywhere` the checklists of the whole file."""
    found = Outline()
    section = 0 if everywhere else None  # the level of the section we are in
    open_: list[Entry] = []  # what the next line may belong to: headings by level, then items by indentation
    last = Line(0, "")
    for line in lines(text):
        before, last = last, line
        heading = None if line.code else _HEADING.match(line.text)
        if heading:
            level = len(heading["marks"])
            if section is not None and level <= section:
                section, open_ = None, []
            if section is None:
                if SECTION.search(heading["text"]):
                    section = level
                    found.sections.append(line)
                continue
            open_ = [entry for entry in open_ if 0 < entry.level < level]
            words = title(heading["text"])
            if words.id and words.text and not everywhere:
                open_.append(Entry(words, line.number, _ticked(heading), level, 0, _last(open_)))
                found.entries.append(open_[-1])
                continue
            found.unnumbered += [] if open_ else [line]
        elif item := None if line.code else _ITEM.match(line.text):
            words = title(item["text"] or "")
            if section is None:
                found.outside += [line] if words.id else []
                continue
            open_ = [entry for entry in open_ if entry.level or entry.indent < line.indent]
            if item["box"] not in ("", " ", "x", "X") or not words.text:
                found.strange.append(line)
                continue
            # Below a numbered heading an item without a number is a part of that task: a step, a criterion.
            if words.id or not (open_ and open_[-1].level):
                open_.append(Entry(words, line.number, _ticked(item), 0, line.indent, _last(open_)))
                found.entries.append(open_[-1])
                continue
        elif line.text.strip() and not _goes_on(before, line):
            open_ = [entry for entry in open_ if entry.level or entry.indent < line.indent]
        if open_:
            open_[-1].body.append(line)
    return found


def _goes_on(before: Line, line: Line) -> bool:
    """A paragraph's next line belongs to it, however little it is indented."""
    return line.code or (bool(before.text.strip()) and not _BULLET.match(line.text))


def _ticked(match: re.Match[str]) -> bool:
    return match["box"] in ("x", "X")


def _last(entries: list[Entry]) -> Entry | None:
    return entries[-1] if entries else None
