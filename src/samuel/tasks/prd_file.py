r"""prd.toon <-> tasks. One table, a task a row:

    tasks[2]{id,title,description,status,...,depends_on,...}:
      "1",Write the parser,"",pending,...,"",...
      "1.10",Use it,"",pending,...,1|T2,...

Several values in one cell (depends_on, files_to_create, files_to_modify, guardrails, checks) are joined with `|`;
a bar within a value is written `\|` and a backslash `\\`. Ids are always in quotes: a bare 1.10 is the number 1.1.
The columns `grade`, `checks`, `no_change` and `questions` are written once a task has a value there; the cells
of `questions` hold JSON.

A file that is written again keeps whatever was not changed as it was, byte for byte: rows, comments, columns that
Samuel does not know, and anything before or after the table. So nothing is lost on a save, and a save costs what
the change costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_type_hints

import msgspec
import toons

from samuel.base.decoding import convert, decode_json
from samuel.base.errors import ConfigError, Problem
from samuel.base.nearest import did_you_mean
from samuel.tasks import graph
from samuel.tasks.grade import GRADES
from samuel.tasks.task import (
    ACCEPTANCE_TESTS,
    COLUMNS,
    KINDS,
    LISTS,
    PRIORITIES,
    PROOFS,
    QUESTIONS,
    RARE_COLUMNS,
    STATUSES,
    Task,
    Tasks,
)

NAME = "prd.toon"
_HEADER = re.compile(r"^tasks\[(\d+)\]\{(.+)\}:[ \t\r]*$", re.MULTILINE)
_COMMENT = re.compile(r"\n[ \t\r]*[#\n]")  # the line after a line end is one, or blank: no row, in any case

_CELLS = 'a cell with a comma, a quote or a colon stands in double quotes, a quote within them is `\\"`'
_TYPES = get_type_hints(Task)
_CHOICES: dict[str, Sequence[str]] = {
    "status": STATUSES,
    "priority": PRIORITIES,
    "grade": GRADES[1:],
    "kind": KINDS,
    "proof": PROOFS,
    "acceptance_tests": ACCEPTANCE_TESTS,
}
_EXPECTED = {
    str: ("text", 'put it in double quotes, like "1.10": without them it is a number'),
    int: ("a whole number", "write one like 3, without quotes"),
    bool: ("true or false", "write one of them, without quotes"),
}


class PrdDocument(NamedTuple):
    """A file as it was read: the tasks, and the text around each."""

    tasks: tuple[Task, ...] = ()
    columns: tuple[str, ...] = ()
    before: str = ""  # all that stands before the table
    rows: tuple[str, ...] = ()  # each task's line, with the comments above it
    after: str = ""


EMPTY = PrdDocument()
_COMMON = tuple(column for column in COLUMNS if column not in RARE_COLUMNS)


def decode(text: str, file: str = NAME) -> PrdDocument:
    """The file's tasks, or ConfigError with everything that is wrong with it."""
    try:
        table = toons.loads(text).get("tasks")
    except toons.ToonDecodeError as error:
        raise ConfigError(_unreadable(text, error, file)) from None
    except AttributeError:  # a list or a plain value
        table = None
    header = _HEADER.search(text)
    if table == [] and not header:  # an empty list has more than one spelling, and nothing to keep
        return EMPTY
    if not header:
        raise ConfigError([_no_table(file)])
    before, rest = text[: header.start()], text[header.end() + 1 :]
    rows, after = _split(rest, len(table))
    columns = tuple(table[0]) if table else _COMMON
    if nested := [name for name, value in table[0].items() if isinstance(value, dict | list)] if table else []:
        raise ConfigError([_nested(nested, file, before.count("\n") + 1)])
    try:
        tasks = _tasks(table, columns)
        problems = [] if graph.fit(tasks) else graph.problems(tasks, file, _line_numbers(before, rows))
    except msgspec.ValidationError:
        problems = _bad_cells(table, file, _line_numbers(before, rows))
    if problems:
        raise ConfigError(problems)
    return PrdDocument(tasks, columns, before, rows, after)


def encode(tasks: Tasks, old: PrdDocument = EMPTY) -> str:
    """The text of these tasks. Those that are still the very objects of `old` keep their text."""
    columns = _columns(tasks, old)
    texts = list(zip(old.tasks, old.rows, strict=True))
    above = {task.id: row.rpartition("\n")[0] for task, row in texts if "\n" in row}
    row_texts = {id(task): row for task, row in texts} if columns == old.columns else {}

    changed = [task for task in tasks if id(task) not in row_texts]
    names, lines = _table(changed, columns)
    for task, line in zip(changed, lines, strict=True):
        row_texts[id(task)] = f"{above[task.id]}\n{line}" if task.id in above else line
    header = f"tasks[{len(tasks)}]{{{names}}}:"
    return old.before + "\n".join([header, *(row_texts[id(task)] for task in tasks), old.after])


def _columns(tasks: Tasks, old: PrdDocument) -> tuple[str, ...]:
    """The columns to write: a rare one only if the file has it or a task needs it, so that old files stay."""
    extras = dict.fromkeys(column for task in (*old.tasks[:1], *tasks) for column in task.extra)
    unchanged = set(map(id, old.tasks))
    changed = [task for task in tasks if id(task) not in unchanged]
    rare = [name for name in RARE_COLUMNS if name in old.columns or any(getattr(task, name) for task in changed)]
    return (*_COMMON, *rare, *extras)


def _split(rest: str, count: int) -> tuple[tuple[str, ...], str]:
    """The text behind the header as `count` rows, each with the comments above it, and what follows them."""
    lines = rest.split("\n")
    if not _COMMENT.search(f"\n{rest}"):
        return tuple(lines[:count]), "\n".join(lines[count:])
    rows: list[str] = []
    begin = end = 0
    while len(rows) < count:
        end += 1
        if not _COMMENT.match(f"\n{lines[end - 1]}\n"):
            rows.append("\n".join(lines[begin:end]))
            begin = end
    return tuple(rows), "\n".join(lines[end:])


def _line_numbers(before: str, rows: Iterable[str]) -> list[int]:
    line, numbers = before.count("\n") + 1, []
    for row in rows:
        line += 1 + row.count("\n")
        numbers.append(line)
    return numbers


Rows = list[dict[str, Any]]
_ONE_LINERS, _NEEDED = ("id", "title", "parent_id"), "depends_on"


def _tasks(table: Rows, columns: Sequence[str]) -> tuple[Task, ...]:
    """Decoded rows as tasks. Every row of every change comes through here: with ten thousand it matters."""
    unknown = [column for column in columns if column not in COLUMNS]
    lists = [column for column in LISTS if column in columns]
    asks = QUESTIONS in columns
    one_liners = [column for column in _ONE_LINERS if column in columns]
    needs = _NEEDED in columns
    for row in table:
        if unknown:
            row["extra"] = {column: row.pop(column) for column in unknown}
        for column in lists:
            cell = row[column]
            if cell == "":
                row[column] = ()
            elif cell.__class__ is str:  # anything else is refused below, with the other wrong cells
                row[column] = _values(cell) if "|" in cell or "\\" in cell else (cell,)
        if asks:
            row[QUESTIONS] = _questions(row[QUESTIONS])
        for column in one_liners:
            cell = row[column]
            if cell.__class__ is str and not cell.isprintable():
                row[column] = _one_line(cell)
        if needs and row[_NEEDED].__class__ is tuple and not "".join(row[_NEEDED]).isprintable():
            row[_NEEDED] = tuple(map(_one_line, row[_NEEDED]))
    try:
        return convert(table, tuple[Task, ...])
    except msgspec.ValidationError:
        _drop_nulls(table)
        return convert(table, tuple[Task, ...])


def _one_line(text: str) -> str:
    """A name or a title as every command prints it: a line break in it would forge a line of their output."""
    return " ".join(text.split()) if text.splitlines() != [text] else text


def _drop_nulls(table: Rows) -> None:
    """A null, which only a person writes, stands for what a column holds by default."""
    for row in table:
        for column in [column for column, value in row.items() if value is None]:
            del row[column]


def _table(tasks: Tasks, columns: Sequence[str]) -> tuple[str, list[str]]:
    """The names of the columns and a line for each task, as toons writes them."""
    rows = [_row(task, columns) for task in tasks] or [dict.fromkeys(columns)]
    try:
        text = toons.dumps({"tasks": rows})
    except ValueError as error:
        raise ConfigError([Problem(f"this cannot be written: {error}")]) from None
    header, *lines = text.split("\n")
    names = header.partition("{")[2].removesuffix("}:")
    if not tasks:
        return names, []
    # It is read back before it replaces anything: what Samuel writes, Samuel can read.
    read = toons.loads(text)["tasks"]
    if read != rows or len(lines) != len(rows):  # other than a table, if a column holds no plain values
        raise ConfigError([Problem("a task would not be read back as it was written")])
    try:
        _tasks(read, columns)
    except msgspec.ValidationError:
        raise ConfigError(_bad_cells(read, "", [0] * len(read))) from None
    return names, [_BARE_ID.sub(r'  "\1",', line) for line in lines]


_OWN = frozenset(COLUMNS)
_BARE_ID = re.compile(r'^  ([^",]+),')  # toons quotes only those that look like something else


def _row(task: Task, columns: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(task, name) if name in _OWN else task.extra.get(name) for name in columns}
    for column in LISTS:
        if column in row:
            row[column] = _cell(row[column])
    if QUESTIONS in row:
        row[QUESTIONS] = msgspec.json.encode(task.questions).decode() if task.questions else ""
    return row


def _questions(cell: Any) -> Any:
    """The JSON of a cell, to be converted with the row. What is no JSON is refused there, with the wrong cells."""
    if cell == "":
        return ()
    try:
        return decode_json(cell.encode()) if cell.__class__ is str else cell
    except (msgspec.DecodeError, RecursionError):
        return cell


def _cell(values: Iterable[str]) -> str:
    return "|".join(value.replace("\\", "\\\\").replace("|", "\\|") for value in values)


def _values(cell: str) -> tuple[str, ...]:
    if "\\" not in cell:
        return tuple(cell.split("|"))
    values = [""]
    for part in re.findall(r"\\.|[^\\|]+|\||\\$", cell, flags=re.DOTALL):
        if part == "|":
            values.append("")
        else:
            values[-1] += part[1:] or part if part[0] == "\\" else part
    return tuple(values)


# What is wrong with a file that cannot be read. Only a broken one comes here, so it may take its time.


def _no_table(file: str) -> Problem:
    hint = "it begins with a line like `tasks[2]{id,title,status}:`"
    return Problem("there is no table of tasks", file, 1, hint)


def _nested(names: Sequence[str], file: str, line: int) -> Problem:
    what = f"`{'`, `'.join(names)}` holds columns of its own"
    return Problem(what, file, line, "give the table plain columns only: a value a cell")


def _unreadable(text: str, error: toons.ToonDecodeError, file: str) -> list[Problem]:
    """Why toons refused the file. It stops at the first mistake; this looks at each row by itself."""
    problems: list[Problem] = []
    if header := _HEADER.search(text):
        rows = _row_lines(text, header)
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
        problems.append(_no_table(file))
    return problems or [
        Problem(_why(error), file, error.line or 0, "https://toonformat.dev shows how TOON is written")
    ]


def _bad_cells(rows: Sequence[dict[str, Any]], file: str, lines: Sequence[int]) -> list[Problem]:
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


def _row_lines(text: str, header: re.Match[str]) -> list[tuple[int, str]]:
    """The lines below the header, with their numbers, up to the first that is not indented."""
    first = text.count("\n", 0, header.end()) + 2
    rows = []
    for number, line in enumerate(text[header.end() + 1 :].split("\n"), start=first):
        if _COMMENT.match(f"\n{line}\n"):
            continue
        if not line[0].isspace():
            break
        rows.append((number, line))
    return rows


def _why(error: toons.ToonDecodeError) -> str:
    return re.sub(r"^TOON parse error at line \d+: ", "", str(error))
