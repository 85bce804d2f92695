"""The kind of a task by its `Kind:` or its title."""

from __future__ import annotations

import pytest

from samuel.evidence.task_kind import TASK_KINDS, TaskKind, task_kind

TITLES: list[tuple[str, TaskKind | None]] = [
    ("Fix the rounding of totals", "fix"),
    ("fix(parser): accept empty input", "fix"),
    ("[bug] Login loops for ever", "fix"),
    ("#123 Fix crash on empty file", "fix"),
    ("2.1 Handle missing config file", "fix"),
    ("Resolve the cast_lossless clippy lint", "chore"),
    ("Format with rustfmt 0.6.0", "chore"),
    ("Fix #12: The total of an empty cart", "fix"),
    ("Fixes #233: drop support for Python 3.6", "refactor"),
    ("Fix #176: Add the cache as an attribute", "feature"),
    ("Prevent double submission of the form", "fix"),
    ("The cart crashes when it is empty", "fix"),
    ("`total()` returns the wrong sum for negative amounts", "fix"),
    ("Don't retry on 4xx responses", "fix"),
    ("Resolve race condition in the queue", "fix"),
    ("parse_date raises ValueError for leap days", "fix"),
    ("Search does not find titles with umlauts", "fix"),
    ("Avoid infinite recursion in deep_merge", "fix"),
    ("Correct off-by-one in pagination", "fix"),
    ("Add a --json option to `list`", "feature"),
    ("feat: dark mode", "feature"),
    ("feat(api)!: pagination of orders", "feature"),
    ("Implement password reset", "feature"),
    ("Support lower case roman numerals", "feature"),
    ("roman_read should accept lower case too (`xiv` is 14)", "feature"),
    ("Allow several recipients", "feature"),
    ("Introduce rate limiting", "feature"),
    ("Create an endpoint for exports", "feature"),
    ("Show negative balances in parentheses", "feature"),
    ("Export reports as CSV", "feature"),
    ("Expose the retry count as a metric", "feature"),
    ("Validate e-mail addresses on sign-up", "feature"),
    ("- [ ] Add totals per month", "feature"),
    ("Refactor the importer into smaller functions", "refactor"),
    ("Rename clamp to clip", "refactor"),
    ("Move helpers to their own module", "refactor"),
    ("Extract the HTTP client", "refactor"),
    ("Clean up the settings module", "refactor"),
    ("Remove boltons/namedutils.py and its tests", "refactor"),
    ("Drop support for Python 3.8", "refactor"),
    ("Simplify error handling in the client", "refactor"),
    ("Split app.js into components", "refactor"),
    ("Add type hints to the public API", "refactor"),
    ("refactor: no more globals", "refactor"),
    ("Migrate from callbacks to async/await", "refactor"),
    ("Fix typos in the README", "docs"),
    ("Document the plugin API", "docs"),
    ("docs: how to install", "docs"),
    ("Write the user guide for exports", "docs"),
    ("Add docstrings to all public functions", "docs"),
    ("Update the changelog for 2.0", "docs"),
    ("Explain the cache in the manual", "docs"),
    ("Bump lodash to 4.17.21", "chore"),
    ("chore: release 1.2", "chore"),
    ("Upgrade to Django 5", "chore"),
    ("Update dependencies", "chore"),
    ("ci: run on every push", "chore"),
    ("Configure ruff", "chore"),
    ("Add a pre-commit hook for formatting", "chore"),
    ("Reformat the code with black", "chore"),
    ("Create the project structure", "chore"),
    ("Add a Dockerfile", "chore"),
    ("Speed up the search index", "perf"),
    ("perf: cache compiled patterns", "perf"),
    ("Make startup faster", "perf"),
    ("Reduce memory usage of the parser", "perf"),
    ("Optimize the N+1 queries of the order list", "perf"),
    ("Add a test for totals", "test"),
    ("Write unit tests for the importer", "test"),
    ("test: cover the retry logic", "test"),
    ("Increase test coverage of utils", "test"),
    ("Fix the flaky test of the scheduler", "test"),
    ("Update the snapshot of the header", "test"),
    ("Titles", None),
    ("Phase 2", None),
    ("", None),
    ("Dashboard", None),
    ("Better error messages", None),
    ("User story: checkout", None),
    ("Investigate the timeouts", None),
    ("As a customer I want to see my orders", None),
    ("Review the onboarding", None),
    ("Polish", None),
    ("💥", None),
]


@pytest.mark.parametrize(("title", "kind"), TITLES)
def test_the_title_decides_where_it_is_plain(title: str, kind: TaskKind | None) -> None:
    assert task_kind("", title) == kind


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_the_authors_own_word_is_taken(kind: TaskKind) -> None:
    assert task_kind(kind, "Rename everything") == kind
    assert task_kind(f" {kind.upper()} ", "") == kind


def test_a_kind_that_is_not_recognised_is_none_whatever_the_title_says() -> None:
    assert task_kind("spike", "Fix the rounding") is None
    assert task_kind("bugfix", "Titles") == "fix"


@pytest.mark.parametrize(
    "title", ["a" * 10**6, "add " * 10**5, "(" * 10**5, "fix(" + "(" * 10**5, "1 " * 10**5, "\0\n"]
)
def test_hostile_titles_are_answered(title: str) -> None:
    task_kind("", title)
