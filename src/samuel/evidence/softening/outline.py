"""What is known about one test of a file without running it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from samuel.evidence.softening.assertions import Assertion

CaseState = Literal["runs", "skipped", "conditional", "emptied"]


class CaseOutline(NamedTuple):
    """A test, or a function that tests use, as far as its text says what it checks."""

    state: CaseState = "runs"
    """`conditional` is skipped under some condition."""
    assertions: tuple[Assertion, ...] = ()
    rows: int = 0
    """The cases of a table that it is run with, as far as they are written out."""
    is_only: bool = False
    """It keeps all others from running."""
    body: str = ""
    """Its text without blanks and comments: by it a test is recognised that was renamed or moved."""
    is_helper: bool = False
    """It is no test: a function or a table that tests use. One that is gone is no finding, the tests tell."""


FileOutline = dict[str, CaseOutline]
