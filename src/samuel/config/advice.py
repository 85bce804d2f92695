"""`did you mean ...?`, for the first few that ask: nobody reads more, and among many names each takes its time."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST = 20
LONGEST = 200  # characters of a name


class Advice:
    def __init__(self) -> None:
        self._left = MOST

    def near(self, name: str, known: Iterable[str], otherwise: str = "") -> str:
        """The hint with the known name that is nearest, or `otherwise`."""
        self._left -= 1
        close = difflib.get_close_matches(name[:LONGEST], known, 1) if self._left >= 0 else []
        return f"did you mean `{close[0]}`?" if close else otherwise
