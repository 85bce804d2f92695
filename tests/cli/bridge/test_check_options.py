"""The options of `samuel bridge check` that need one another."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no agent is named"),
        (("--all", "claude"), "`--all` is for what was run"),
        (("--markdown", "claude"), "`--markdown` is for what was run"),
        (("--live", "--markdown", "claude"), "`--markdown` is for what was run"),
    ],
)
def test_an_option_without_the_one_that_it_needs_is_refused(samuel, arguments, words):
    ran = samuel("bridge", "check", *arguments)
    assert ran.code == 2
    assert words in ran.err
