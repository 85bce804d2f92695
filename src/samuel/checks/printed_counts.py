"""How many tests a runner says it ran, read from what it printed: for runners that write no report."""

from __future__ import annotations

import re

from samuel.base.printable import without_control_sequences

WHOLE = 4000  # characters: of a longer output only the end is there, and what ran first may have been cut off

_COUNT = re.compile(
    r"^Ran (\d+) tests? in "  # unittest
    r"|^running (\d+) tests?$"  # libtest of Rust, once for each binary
    r"|^\s*(\d+) passing\b"  # mocha
    r"|^(?:#|ℹ) tests (\d+)$"  # node --test
    r"|^\s*Tests:?\s.*?(\d+) (?:total|passed)\b"  # jest, vitest
    r"|\b(\d+) passed\b",  # pytest
    re.MULTILINE,
)
_PASSED_PACKAGE = re.compile(r"^ok[ \t]+\S+[ \t]+(?!.*\[no tests to run\])", re.MULTILINE)  # go
_NONE = re.compile(
    r"\bno test(?: file)?s found\b"  # jest and vitest, with --passWithNoTests
    r"|\[no test files\]|\[no tests to run\]",  # go
    re.IGNORECASE,
)


def says_that_none_ran(output: str) -> bool:
    """Whether a runner printed that it ran no test, and none printed that it ran one."""
    if len(output) >= WHOLE:
        return False
    text = without_control_sequences(output)
    counts = [int(next(filter(None, match))[:6]) for match in _COUNT.findall(text)]
    if any(counts) or _PASSED_PACKAGE.search(text):
        return False
    return bool(counts) or bool(_NONE.search(text))
