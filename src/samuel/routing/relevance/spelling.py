"""Forms that documents may have instead of a word that none of them has."""

from __future__ import annotations

import string
from collections.abc import Iterator

SHORTEST = 6
"""Shorter words have too many neighbours that mean something else."""


def one_slip_away(word: str) -> Iterator[str]:
    """Everything that one typing error turns into this word: a letter too few, too many, wrong, or two swapped.

    The first letter is taken as right, which it mostly is.
    """
    if len(word) < SHORTEST or not word.isalpha():
        return
    for at in range(1, len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
            if len(after) > 1:
                yield before + after[1] + after[0] + after[2:]
        for letter in string.ascii_lowercase:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]


def relatives(stem: str) -> Iterator[str]:
    """Stems of the same family: `retrain` and `train`, `tester` and `test`."""
    for ending in ("er", "or"):
        if len(stem) > len(ending) + 3 and stem.endswith(ending):
            yield stem.removesuffix(ending)
        yield stem + ending
    if stem.startswith("re") and len(stem) > 5:
        yield stem.removeprefix("re")
    yield f"re{stem}"
