"""Tests that are in the same file as the source: which text old tests judge new source with, and the reverse.

Rust (`#[cfg(test)]`, `#[test]`, examples in documentation), Python (examples in docstrings), Zig (`test` blocks)
and D (`unittest` blocks). Examples of Go are in files of their own.
"""

from __future__ import annotations

from samuel.evidence.inline.doctests import python_with_tests
from samuel.evidence.inline.rust_tests import rust_with_tests
from samuel.evidence.inline.unittest_blocks import BLOCK_FAMILIES, blocks_with_tests
from samuel.evidence.lexing import family_of


def old_tests_in(path: str, old: str, new: str) -> str | None:
    """The new source with the old tests: what corner B has at this path.

    It is `new` itself if the tests are the same in both. None if neither has tests in it, if one of them is not
    understood completely, or if the file is removed; then the file belongs to the source as a whole.
    """
    return _with_tests(path, new, old) if new else None


def new_tests_in(path: str, old: str, new: str) -> str | None:
    """The old source with the new tests: what corner D has at this path. None as for `old_tests_in`."""
    return _with_tests(path, old, new) if new else None


def _with_tests(path: str, code: str, tests: str) -> str | None:
    if path.endswith((".py", ".pyw")):
        return python_with_tests(code, tests)
    if path.endswith(".rs"):
        return rust_with_tests(code, tests)
    if family_of(path) in BLOCK_FAMILIES:
        return blocks_with_tests(path, code, tests)
    return None
