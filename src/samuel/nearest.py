"""`did you mean ...?`: which of the valid names a misspelt one is most like."""

from __future__ import annotations

from collections.abc import Iterable

from samuel.printable import safe

LONGEST_NAME = 200
"""Characters of a misspelt name that are compared: comparing takes the square of their number."""
MOST_HINTS = 20
"""Hints that one report gets: among many names each takes its time, and a reader needs only the first few."""
CUTOFF = 0.6
"""How alike two names must be, from 0 to 1, for one to be a hint for the other."""


def nearest_name(name: str, names: Iterable[str], cutoff: float = CUTOFF) -> str:
    """The one of `names` that is most like `name`, or "" if none is alike enough."""
    import difflib  # deferred: most commands never meet a wrong name

    close = difflib.get_close_matches(name[:LONGEST_NAME], names, 1, cutoff)
    return close[0] if close else ""


def did_you_mean(name: str, names: Iterable[str], otherwise: str = "", cutoff: float = CUTOFF) -> str:
    """The hint with the nearest of `names`, or `otherwise`. It is one line, whatever the names contain."""
    return hint(nearest_name(name, names, cutoff), otherwise)


def hint(near: str, otherwise: str = "") -> str:
    """The hint with the name that was probably meant, or `otherwise` if there is none."""
    return f"did you mean `{safe(near, keep='')}`?" if near else otherwise


class SpellingHints:
    """Hints for one report, which may have thousands of wrong names: the first `MOST_HINTS` are looked up."""

    def __init__(self) -> None:
        self._left = MOST_HINTS

    def did_you_mean(self, name: str, names: Iterable[str], otherwise: str = "", cutoff: float = CUTOFF) -> str:
        """The hint with the nearest of `names`; `otherwise` if there is none, or the report had its hints."""
        self._left -= 1
        return did_you_mean(name, names, otherwise, cutoff) if self._left >= 0 else otherwise
