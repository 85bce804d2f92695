"""The length of tests: `make test` runs the short forms; SAMUEL_TESTS=full, as in `make full`, the long ones."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")
FULL = os.environ.get("SAMUEL_TESTS") == "full"


def at_length(short: T, full: T) -> T:
    """A size that is not the point of the test: large enough in the short form, thorough in the long one."""
    return full if FULL else short
