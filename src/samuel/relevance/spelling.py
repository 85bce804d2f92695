"""Other forms of a word that documents may have instead: for a word that none of them has."""

from __future__ import annotations

import string
from collections.abc import Iterator

SHORTEST = 6
"""Shorter words have too many neighbours that mean something else."""


def slips(word: str) -> Iterator[str]:
    """All that is one slip of the fingers away from a word. Its first letter is mostly right."""
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
    """What comes from the same word: `retrain` and `train`, `tester` and `test`."""
    for ending in ("er", "or"):
        if len(stem) > len(ending) + 3 and stem.endswith(ending):
            yield stem.removesuffix(ending)
        yield stem + ending
    if stem.startswith("re") and len(stem) > 5:
        yield stem.removeprefix("re")
    yield f"re{stem}"
