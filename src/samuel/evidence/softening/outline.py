"""What is known about one test of a file without running it."""

from __future__ import annotations

from typing import Literal, NamedTuple

CaseState = Literal["runs", "skipped", "conditional", "emptied"]


class CaseOutline(NamedTuple):
    """A test, as far as its text says what it checks."""

    state: CaseState = "runs"
    """`conditional` is skipped under some condition."""
    assertions: int = 0
    """Those that can fail."""
    tautologies: int = 0
    """Assertions that can only pass: `assert True`, `expect(1).toBe(1)`."""
    tolerance: float = 0.0
    """The widest one in it."""
    rows: int = 0
    """The cases of a table that it is run with, as far as they are written out."""
    is_only: bool = False
    """It keeps all others from running."""
    body: str = ""
    """Its text without blanks and comments: by it a test is recognised that was renamed or moved."""


FileOutline = dict[str, CaseOutline]
