"""What a failure teaches is the line of the output that says what is wrong."""

from __future__ import annotations

import pytest

from samuel.prompts.progress import LONGEST_LEARNING, learning

PYTEST = """\
quality_failed: `pytest -q` ended with exit code 1
.F                                                                       [100%]
=================================== FAILURES ===================================
    def test_sum():
>       assert 1 + 1 == 3
E       assert (1 + 1) == 3

tests/test_sum.py:2: AssertionError
=========================== short test summary info ============================
FAILED tests/test_sum.py::test_sum - assert (1 + 1) == 3
1 failed, 1 passed in 0.02s
"""


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (PYTEST, "`pytest -q`: FAILED tests/test_sum.py::test_sum - assert (1 + 1) == 3"),
        (PYTEST.split("====")[0] + "E       assert 2 == 3\n1 failed", "`pytest -q`: assert 2 == 3"),
        (
            "quality_failed: `make` ended with exit code 2\nFAIL: test_x\nTraceback (most recent call last):\n"
            "AssertionError: 1 != 2\nFAILED (failures=1)\nmake: *** [Makefile:2: test] Error 1",
            "`make`: AssertionError: 1 != 2",
        ),
        (
            "quality_failed: `cc x.c` ended with exit code 1\nx.c: In function `main`:\n"
            "x.c:3:5: error: expected `;` before `}` token",
            "`cc x.c`: x.c:3:5: error: expected `;` before `}` token",
        ),
        (
            "quality_failed: `cargo test` ended with exit code 101\n  Compiling x\nerror[E0308]: mismatched types",
            "`cargo test`: error[E0308]: mismatched types",
        ),
        ("quality_failed: `sh x` ended with exit code 1\nfirst\n\x1b[31mthe last\x1b[0m\n\n", "`sh x`: the last"),
        ("quality_failed: `test -f x` ended with exit code 1", "`test -f x` failed"),
        ("quality_failed: no file in migrations/ may change\ndetails", "no file in migrations/ may change"),
        ("agent_failed: the agent ended with exit code 1\nError: no such model", "Error: no such model"),
        ("agent_failed: the agent ended with exit code 126: permission denied", "permission denied"),
        ("agent_failed: the agent ended with exit code 1", ""),
        ("", ""),
    ],
)
def test_a_learning_is_the_telling_line_of_a_failure(failure: str, expected: str) -> None:
    assert learning(failure) == expected


def test_a_learning_is_one_short_line_whatever_the_output_is() -> None:
    text = learning("quality_failed: `x` ended with exit code 1\n" + "error: " * 100_000)
    assert len(text) == LONGEST_LEARNING
    assert "\n" not in text
