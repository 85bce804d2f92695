"""The lines of an output as a terminal would show them, and what the readers of all runners need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from samuel.base.printable import without_control_sequences
from samuel.evidence.reports.suite import FailureKind

MOST_TEXT = 128 << 10  # characters of an output that are looked at: its end
LONGEST_LINE = 2000
_KINDS: tuple[FailureKind, ...] = ("error", "missing", "assertion")


def shown_lines(text: str) -> list[str]:
    """The lines of an output without colours, and of a line that was written several times the last state."""
    lines = without_control_sequences(text[-MOST_TEXT:]).split("\n")
    return [line.rstrip("\r").rpartition("\r")[2][:LONGEST_LINE].rstrip() for line in lines]


def blocks(
    lines: Sequence[str], start: re.Pattern[str], end: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str]]:
    """The lines that begin a block, as matches, each with the text up to the next one or to one that ends it."""
    match: re.Match[str] | None = None
    text: list[str] = []
    for line in lines:
        if (begins := start.match(line)) or end.match(line):
            if match:
                yield match, "\n".join(text)
            match, text = begins, []
        elif match:
            text.append(line)
    if match:
        yield match, "\n".join(text)


def least_proof(kinds: Iterable[FailureKind]) -> FailureKind:
    """Of several kinds of failures the one that proves least; `error` of none."""
    present = set(kinds)
    return next((kind for kind in _KINDS if kind in present), "error")


def counts(text: str, words: re.Pattern[str]) -> dict[str, int]:
    """The numbers of a line such as `2 failed, 1 passed` by their words; `words` has number and word as groups."""
    return {word: int(number) for number, word in words.findall(text)}
