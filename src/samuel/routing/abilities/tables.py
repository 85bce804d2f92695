"""The two Markdown tables of ABILITY.md, which list abilities and when to use them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from samuel.base.errors import Problem
from samuel.routing.abilities.definition import LONGEST_SUMMARY
from samuel.routing.abilities.model import Level

FILE = "ABILITY.md"
LARGEST = 8 * 1024 * 1024

COLUMNS = {
    Level.HIGH: ("id", "type", "scope", "when to use", "registry path"),
    Level.LOW: ("operation key", "kind", "scope", "summary", "registry path"),
}

_RULE = re.compile(r":?-+:?")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_LINK = re.compile(r"\[[^\]]*\]\(([^()\s]*)\)")
# A bar within a cell is written `\|`.
_BAR = re.compile(r"(?<!\\)\|")


class AbilityRow(NamedTuple):
    level: Level
    name: str
    kind: str
    """The type of a high-level ability, the kind of a low-level one."""
    scope: str
    text: str
    """When to use it, or its summary."""
    path: str
    line: int


class AbilityTables(NamedTuple):
    rows: tuple[AbilityRow, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_tables(text: str) -> AbilityTables:
    """Every row of every such table; other tables are ignored."""
    rows: list[AbilityRow] = []
    problems: list[Problem] = []
    for (line, cells), body in _tables(text):
        columns = [" ".join(cell.lower().split()) for cell in cells]
        level = next((level for level, names in COLUMNS.items() if set(names) <= set(columns)), None)
        if level is not None:
            for number, row in body:
                result = _row(level, columns, number, row)
                if isinstance(result, AbilityRow):
                    rows.append(result)
                else:
                    problems.append(result)
        elif "registry path" in columns:
            problems.append(_unknown(columns, line))
    return AbilityTables(tuple(rows), tuple(problems))


_Cells = tuple[int, list[str]]
"""A line number and the cells of that line."""


def _tables(text: str) -> Iterator[tuple[_Cells, list[_Cells]]]:
    """Each table's header and the rows below it."""
    lines = list(_lines_with_bars(text))
    at = 0
    while at + 1 < len(lines):
        (number, header), (after, rule) = lines[at], lines[at + 1]
        at += 1
        if after != number + 1 or len(rule) != len(header) or not all(map(_RULE.fullmatch, rule)):
            continue
        at += 1
        body = []
        while at < len(lines) and lines[at][0] == after + 1:
            body.append(lines[at])
            after, at = after + 1, at + 1
        yield (number, header), body


def _lines_with_bars(text: str) -> Iterator[_Cells]:
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and "|" in line:
            yield number, [cell.strip() for cell in _BAR.split(line.strip().removeprefix("|").removesuffix("|"))]


def _row(level: Level, columns: list[str], line: int, cells: list[str]) -> AbilityRow | Problem:
    if len(cells) != len(columns):
        what = f"the row has {len(cells)} cells and its table {len(columns)} columns"
        return Problem(what, FILE, line, "write a `|` that belongs to the text as `\\|`")
    values = dict(zip(columns, map(_plain, cells), strict=True))
    name, kind, scope, text, path = (values[column] for column in COLUMNS[level])
    row = AbilityRow(level, name, kind, scope, text, path, line)
    for column, value in (("name", row.name), ("registry path", row.path)):
        if not value:
            return Problem(f"the row has no {column}", FILE, line)
    if long := next((column for column, value in values.items() if len(value) > LONGEST_SUMMARY), ""):
        return Problem(f"`{long}` has more than {LONGEST_SUMMARY} characters", FILE, line, "shorten it")
    return row


def _plain(cell: str) -> str:
    """The text of a cell without Markdown for code, emphasis and links."""
    cell = cell.replace("\\|", "|")
    if link := _LINK.fullmatch(cell):
        cell = link[1]
    for mark in ("`", "**", "_"):
        if len(cell) > 2 * len(mark) and cell.startswith(mark) and cell.endswith(mark):
            cell = cell.removeprefix(mark).removesuffix(mark)
    return cell.strip()


def _unknown(columns: list[str], line: int) -> Problem:
    level = Level.HIGH if "id" in columns else Level.LOW
    missing = ", ".join(f"`{column}`" for column in COLUMNS[level] if column not in columns)
    return Problem(f"the table lacks the column {missing}", FILE, line, "columns are found by their names")
