"""Patterns as in a .gitignore: what git itself says is the truth."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.files.globs import any_chosen, chosen

PATTERNS = (
    *("services/**", "apps/**", "*.py", "/build/", "build/", "docs/*.md", "foo", "a/**/b", "**/x", "x/**/", "/a*"),
    *("*", "?.c", "[ab].c", "[!ab].c", "[^ab].c", "\\*.c", "a/", "**", "a/**", "*/b", "/**/q", "a/b/", "**/a/**"),
    *("a/b", "/foo", "foo/*", "*/*/*", "**/docs/**/r.md", "a**b", "docs", "./a"),
)
NAMES = ("a", "b", "x", "foo", "services", "apps", "docs", "build", "c.py", "r.md", "a.c", "c.c", "*.c", "q", "ab")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    return root


@pytest.fixture(scope="module")
def ignored(repository: Path) -> Callable[[str, list[str]], set[str]]:
    def ask(pattern: str, paths: list[str]) -> set[str]:
        (repository / ".git/info/exclude").write_text(f"{pattern}\n")
        done = subprocess.run(
            ["git", "-C", repository, "check-ignore", "--no-index", "--stdin", "-z"],
            input="\0".join(paths).encode(),
            capture_output=True,
        )
        return set(done.stdout.decode().split("\0")) - {""}

    return ask


def some_paths() -> list[str]:
    """Every name at every depth, in combinations that a fixed rule picks."""
    paths = list(NAMES)
    for depth in range(2, 5):
        for start in range(len(NAMES)):
            for step in (1, 2, 4, 7):
                paths.append("/".join(NAMES[(start + step * at) % len(NAMES)] for at in range(depth)))
    return paths


@pytest.mark.parametrize("pattern", PATTERNS)
def test_globs_choose_what_gitignore_would(pattern: str, ignored: Callable[[str, list[str]], set[str]]) -> None:
    paths = some_paths()
    truth = ignored(pattern, paths)
    assert {path for path in paths if chosen(path, [pattern])} == truth


def test_the_last_pattern_that_fits_decides() -> None:
    patterns = ["services/**", "!services/docs/**", "services/docs/keep.md"]
    assert chosen("services/billing/a.ts", patterns)
    assert not chosen("services/docs/a.md", patterns)
    assert chosen("services/docs/keep.md", patterns)
    assert not chosen("apps/a.ts", patterns)


def test_one_chosen_path_of_many_is_enough() -> None:
    assert any_chosen(["README.md", "./services/a"], ["services/**"])
    assert not any_chosen(["README.md"], ["services/**"])
    assert not any_chosen([], ["**"])


def test_no_glob_is_slow() -> None:
    assert not chosen("a" * 200, ["*a" * 60 + "b"])
    assert not chosen("/".join(["a"] * 300), ["**/a/" * 60 + "b"])
    assert not any_chosen(["a"], ["[" * 1_000_000])


@given(st.text(max_size=40), st.lists(st.text(max_size=30), max_size=4))
def test_any_text_is_a_valid_glob(path: str, patterns: list[str]) -> None:
    assert chosen(path, patterns) in (True, False)


_PARTS = st.sampled_from(["a", "b.py", "**", "*", "*.py", "[ab]", "\\*", "?", "", ".", "!a", "a*b"])
_PATTERNS = st.tuples(st.sampled_from(["", "!", "/"]), st.lists(_PARTS, min_size=1), st.booleans()).map(
    lambda parts: parts[0] + "/".join(parts[1]) + "/" * parts[2]
)


@given(st.lists(_PARTS, max_size=5).map("/".join), st.lists(_PATTERNS, max_size=4))
def test_glob_prefilter_passes_over_no_matching_path(path: str, patterns: list[str]) -> None:
    assert any_chosen([path], patterns) == chosen(path, patterns)
