"""`did you mean ...?`: which of the valid names a misspelt one is most like."""

from __future__ import annotations

from collections.abc import Iterable

from samuel.base.printable import safe

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


def nearest_path(name: str, names: Iterable[str]) -> str:
    """The one of `names`, like `org/repo/hook` or `plugin:hook`, that `name` is short for or is most like, or "".

    Upper and lower case are the same here, and the shorter of two that are equally likely is preferred.
    """
    shortest_first = sorted(names, key=lambda each: (len(each), each))
    parts = _parts(name)
    same = (each for each in shortest_first if _parts(each) == parts)
    longer = (each for each in shortest_first if _parts(each)[-len(parts) :] == parts)
    shorter = (each for each in shortest_first if parts[-len(_parts(each)) :] == _parts(each))
    by_lower_case = {each.lower(): each for each in reversed(shortest_first)}
    exact = next(same, "") or next(longer, "") or next(shorter, "")
    return exact or by_lower_case.get(nearest_name(name.lower(), by_lower_case), "")


def _parts(path: str) -> list[str]:
    return path.lower().replace(":", "/").split("/")


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
