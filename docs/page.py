"""What the pages that are written by a program have in common."""

from __future__ import annotations

from collections.abc import Iterable

NOTE = "<!-- Written by docs/generate.py. Change the code, then run it again. -->\n"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
