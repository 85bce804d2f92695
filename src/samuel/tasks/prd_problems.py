"""What is wrong with a prd.toon that cannot be read: all of it, where it stands, and how to fix it.

Only a broken file comes here, so it may take its time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_type_hints

import msgspec
import toons

from samuel.base.decoding import convert
from samuel.base.errors import Problem
from samuel.base.nearest import did_you_mean
from samuel.tasks.grade import GRADES
from samuel.tasks.task import KINDS, LISTS, PRIORITIES, PROOFS, QUESTIONS, STATUSES, Task

HEADER = re.compile(r"^tasks\[(\d+)\]\{(.+)\}:[ \t\r]*$", re.MULTILINE)
COMMENT = re.compile(r"\n[ \t\r]*[#\n]")  # the line after a line end is one, or blank: no row, in any case

_CELLS = 'a cell with a comma, a quote or a colon stands in double quotes, a quote within them is `\\"`'
_TYPES = get_type_hints(Task)
_CHOICES: dict[str, Sequence[str]] = {
    "status": STATUSES,
    "priority": PRIORITIES,
    "grade": GRADES[1:],
    "kind": KINDS,
    "proof": PROOFS,
}
_EXPECTED = {
    str: ("text", 'put it in double quotes, like "1.10": without them it is a number'),
    int: ("a whole number", "write one like 3, without quotes"),
    bool: ("true or false", "write one of them, without quotes"),
}


def no_table(file: str) -> Problem:
    hint = "it begins with a line like `tasks[2]{id,title,status}:`"
    return Problem("there is no table of tasks", file, 1, hint)


def nested(names: Sequence[str], file: str, line: int) -> Problem:
    what = f"`{'`, `'.join(names)}` holds columns of its own"
    return Problem(what, file, line, "give the table plain columns only: a value a cell")


def unreadable(text: str, error: toons.ToonDecodeError, file: str) -> list[Problem]:
    """Why toons refused the file. It stops at the first mistake; this looks at each row by itself."""
    problems: list[Problem] = []
    if header := HEADER.search(text):
        rows = _rows(text, header)
        if int(header[1]) != len(rows):
            at = text.count("\n", 0, header.start()) + 1
            what = f"the header counts {header[1]} tasks, but the table has {len(rows)}"
            hint = f"bring back the missing row, or write `tasks[{len(rows)}]` if this is all of them"
            problems.append(Problem(what, file, at, hint))
        for line, row in rows:
            try:
                toons.loads(f"tasks[1]{{{header[2]}}}:\n{row}\n")
            except toons.ToonDecodeError as refused:
                problems.append(Problem(f"this row cannot be read: {_why(refused)}", file, line, _CELLS))
    elif not re.search(r"^tasks\b", text, re.MULTILINE):
        problems.append(no_table(file))
    return problems or [
        Problem(_why(error), file, error.line or 0, "https://toonformat.dev shows how TOON is written")
    ]


def bad_cells(rows: Sequence[dict[str, Any]], file: str, lines: Sequence[int]) -> list[Problem]:
    """The cells that do not hold what their columns ask for; null stands for a column's default."""
    problems: list[Problem] = []
    for line, row in zip(lines, rows, strict=True):
        for name in sorted({"id", "title"} - set(row)):
            problems.append(Problem(f"the task has no `{name}`", file, line, "every task needs an id and a title"))
        for name, value in row.items():
            try:
                convert(value, _TYPES[name])
            except msgspec.ValidationError:
                problems.append(_refused(name, value)._replace(file=file, line=line))
    return problems


def _refused(name: str, value: Any) -> Problem:
    if name in _CHOICES:
        hint = did_you_mean(str(value), _CHOICES[name], f"one of {', '.join(_CHOICES[name])}")
        return Problem(f"`{value}` is not a valid {name}", hint=hint)
    if name in LISTS:
        return Problem(f"`{name}` must be text, not {value!r}", hint='write "1.10", and several as "1.10|1.11"')
    if name == QUESTIONS:
        return Problem("`questions` must be JSON as Samuel writes it", hint="restore the cell, or empty it")
    expected, hint = _EXPECTED[_TYPES[name]]
    return Problem(f"`{name}` must be {expected}, not {value!r}", hint=hint)


def _rows(text: str, header: re.Match[str]) -> list[tuple[int, str]]:
    """The lines below the header, with their numbers, up to the first that is not indented."""
    first = text.count("\n", 0, header.end()) + 2
    rows = []
    for number, line in enumerate(text[header.end() + 1 :].split("\n"), start=first):
        if COMMENT.match(f"\n{line}\n"):
            continue
        if not line[0].isspace():
            break
        rows.append((number, line))
    return rows


def _why(error: toons.ToonDecodeError) -> str:
    return re.sub(r"^TOON parse error at line \d+: ", "", str(error))
