"""What verifying receipts comes to: same, different or cannot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

Answer = Literal["same", "different", "cannot"]

EXIT_CODES: dict[Answer, int] = {"same": 0, "different": 1, "cannot": 4}
_WORST_FIRST: tuple[Answer, ...] = ("different", "cannot", "same")


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What verifying one receipt came to."""

    commit: str
    """"" for a receipt of a tree."""
    title: str = ""
    grade: str = ""
    answer: Answer = "same"
    reasons: tuple[str, ...] = ()
    """What is different, or why it cannot be verified."""
    remarks: tuple[str, ...] = ()
    """What else to know: another version of Python here, a check that is flaky."""

    def plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


class NotVerified(Exception):
    """Ends the verification of one receipt."""

    def __init__(self, answer: Answer, *reasons: str) -> None:
        super().__init__(*reasons)
        self.answer: Answer = answer
        self.reasons = reasons


def worst(answers: Iterable[Answer]) -> Answer:
    """The answer for several receipts."""
    every = set(answers)
    return next((answer for answer in _WORST_FIRST if answer in every), "cannot")
