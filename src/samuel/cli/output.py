"""The output of commands: tables on a terminal, aligned text in pipes, one JSON envelope for programs.

{"ok": true, "data": ..., "warnings": [...], "error": null}
{"ok": false, "data": null, "warnings": [], "error": {"message", "hint", "problems": [{file, line, what, hint}]}}
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from samuel.base.errors import ConfigError, SamuelError
from samuel.base.printable import safe
from samuel.files.atomic import errors_naming

if TYPE_CHECKING:
    from rich.console import Console

STDOUT = "standard output"  # as errors name it
STDOUT_FD, STDERR_FD = 1, 2


class OutputTable(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: Sequence[str] = ()
    """The columns that share what is left of a terminal's width, so that the others are not broken; (): all."""
    dispensable: Sequence[str] = ()
    """The columns that a terminal does not show if they say the same in every row."""
    underlined: bool = False
    """Whether the plain text has a line of dashes below the header."""

    @classmethod
    def of(
        cls, columns: Sequence[str], rows: Iterable[Mapping[str, object]], folded: Sequence[str] = ()
    ) -> OutputTable:
        """The table of these fields of the rows; `-` for one that is empty."""
        return cls(columns, [[_cell(row[name]) for name in columns] for row in rows], folded)

    def plain(self) -> list[dict[str, str]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def fields_of(record: object, *names: str) -> dict[str, Any]:
    """These fields of a record, as the data of `--json`."""
    return {name: msgspec.to_builtins(getattr(record, name)) for name in names}


class Output:
    def __init__(self, json: bool = False) -> None:
        self.json = json
        self.failure: int | None = None
        """The exit code of every failure, for commands whose callers expect a certain one."""

    @property
    def asks(self) -> bool:
        """Is there a terminal on which questions can be asked?"""
        return not self.json and sys.stdin.isatty() and sys.stderr.isatty()

    def answer(
        self, data: Any, *blocks: str | OutputTable, ok: bool = True, warnings: Iterable[str] = (), error: str = ""
    ) -> int:
        """Print the result of a command and return its exit code. `error` is why there is no more of it."""
        if self.json:
            wrong = _plain(SamuelError(error)) if error else None
            self.object({"ok": ok, "data": data, "warnings": list(warnings), "error": wrong})
        else:
            for block in blocks:
                self.show(block)
            self.warn(*warnings)
            if error:
                self.tell(f"error: {error}")
        return 0 if ok else 1

    def object(self, value: Any) -> None:
        """Print one JSON object without the envelope, for results with a format of their own."""
        from samuel.base.printable_json import safe_json  # `samuel emit` does without it, and it is slow to import

        _print(safe_json(value))

    def show(self, block: str | OutputTable) -> None:
        if isinstance(block, str):
            _print(safe(block))
        elif sys.stdout.isatty():
            _terminal().print(_rich_table(block))
        else:
            _print("\n".join(_aligned(block)))

    def write(self, descriptor: int, text: str) -> None:
        """Write text that is ready to print to standard output (1) or standard error (2)."""
        with errors_naming(STDOUT):
            if descriptor == STDOUT_FD:
                print(text, end="")
                return
            sys.stdout.flush()  # where both streams end on one screen, they stay in order
        with suppress(OSError):  # a full disk or a closed pipe must not change the result
            print(text, end="", file=sys.stderr)

    def warn(self, *messages: str) -> None:
        for message in messages:
            self.tell(f"warning: {message}")

    def tell(self, *messages: str) -> None:
        """Print messages to the user on stderr, apart from the result of the command."""
        self.write(STDERR_FD, "".join(f"{safe(message)}\n" for message in messages))

    def fail(self, error: SamuelError) -> int:
        self.tell(f"error: {error}")
        if self.json:
            self.object({"ok": False, "data": None, "warnings": [], "error": _plain(error)})
        return self.ending(error.exit_code)

    def ending(self, code: int) -> int:
        """The exit code of a command that failed: `code`, or the one that its callers expect."""
        return code if self.failure is None else self.failure


def _print(text: str) -> None:
    with errors_naming(STDOUT):
        print(text)


def _plain(error: SamuelError) -> dict[str, Any]:
    problems = error.problems if isinstance(error, ConfigError) else ()
    return {
        "message": error.message,
        "hint": error.hint,
        "problems": [problem._asdict() for problem in problems],
    }


def _aligned(table: OutputTable) -> list[str]:
    """Aligned plain text with nothing cut, for `grep`, `awk` and files."""
    header = [name.upper() for name in table.columns]
    dashes = [["-" * len(name) for name in header]] if table.underlined else []
    rows = [header, *dashes, *(_cells(row) for row in table.rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _rich_table(table: OutputTable) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    table = _without_dispensable(table)
    rich_table = RichTable(*table.columns, box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name, column in zip(table.columns, rich_table.columns, strict=True):
        column.overflow = "fold"  # a long name is never cut
        column.no_wrap = bool(table.folded) and name not in table.folded
    for row in table.rows:
        # As Text: brackets in a name are not markup.
        rich_table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in _cells(row)))
    return rich_table


def _without_dispensable(table: OutputTable) -> OutputTable:
    left_out = {
        index
        for index, name in enumerate(table.columns)
        if name in table.dispensable and len({row[index] for row in table.rows}) == 1
    }

    def rest(cells: Sequence[str]) -> list[str]:
        return [cell for index, cell in enumerate(cells) if index not in left_out]

    return table._replace(columns=rest(table.columns), rows=[rest(row) for row in table.rows])


def _terminal() -> Console:
    from rich.console import Console

    # Without NO_COLOR rich finds out by itself what the terminal can do.
    return Console(color_system=None if os.environ.get("NO_COLOR") else "auto", highlight=False)


def _cell(value: object) -> str:
    text = ", ".join(value) if isinstance(value, list | tuple) else "" if value is None else str(value)
    return text or "-"


def _cells(row: Sequence[str]) -> list[str]:
    return [safe(cell, keep="") for cell in row]


_STYLES = {
    **dict.fromkeys(("ok", "active", "trusted", "completed"), "green"),
    **dict.fromkeys(("note", "shadowed", "disabled", "excluded", "gone"), "dim"),
    **dict.fromkeys(("warning", "untrusted", "new", "changed", "refused", "denied", "observed"), "yellow"),
    **dict.fromkeys(("waiting", "completed (unverified)"), "yellow"),
    **dict.fromkeys(
        ("error", "broken", "failed", "crashed", "timed_out", "bad_output", "not_started", "blocked"),
        "red",
    ),
}
