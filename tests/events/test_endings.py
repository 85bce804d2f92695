"""The outcomes of iterations and the exit reasons of runs: their values, and the tables in the documentation."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import pytest

from samuel.events.endings import ExitReason, IterationOutcome

DOCS = Path(__file__).parents[2] / "docs"


def table_rows(page: str, first_column: str) -> list[list[str]]:
    """The cells of the table whose first column has this title, without its head."""
    lines = iter((DOCS / page).read_text().splitlines())
    for line in lines:
        if line.startswith(f"| {first_column} |"):
            break
    next(lines)
    rows = []
    while (line := next(lines)).startswith("|"):
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def test_the_loop_page_has_every_outcome_with_its_meaning() -> None:
    rows = table_rows("explanation/the-loop.md", "outcome")
    assert [row[:2] for row in rows] == [[f"`{outcome}`", outcome.meaning] for outcome in IterationOutcome]


def test_the_loop_page_has_every_exit_reason_with_its_meaning_and_exit_code() -> None:
    expected = [[f"`{reason}`", reason.meaning, str(reason.exit_code)] for reason in ExitReason]
    assert table_rows("explanation/the-loop.md", "exit reason") == expected


def test_the_exit_code_page_lists_the_exit_reasons_of_each_code() -> None:
    by_code: dict[int, list[str]] = {}
    for reason in ExitReason:
        by_code.setdefault(reason.exit_code, []).append(f"`{reason}`")
    text = (DOCS / "reference/exit-codes.md").read_text()
    for code, reasons in by_code.items():
        assert f"| {code} | {', '.join(reasons)} |\n" in text


@pytest.mark.parametrize("ending", [*IterationOutcome, *ExitReason])
def test_an_ending_is_its_value_wherever_it_is_printed(ending: StrEnum) -> None:
    assert f"{ending}" == str(ending) == ending.value == ending.name.lower()
