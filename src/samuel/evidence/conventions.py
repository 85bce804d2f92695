"""Which files are tests, by the names and directories that people use in every language.

A test file belongs to the test change T of an attempt: the old ones judge its source (corner B), and the new ones
judge the old source (corner D). So a wrong "yes" for a file of the source would take it out of B, and honest work
fails there; a wrong "no" for a test leaves it open to be weakened. Names decide, never contents: an agent chooses
the contents. Helpers, fixtures and golden files below a directory of tests are tests as well, since a changed
expectation there weakens a test no less; so is what cannot be read there, because it is binary or too large.

The settings of runners are in `check_settings`, the tests beside the source in `inline_tests`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from samuel.files.globs import chosen

_DIRECTORIES = frozenset(
    (
        *("test", "tests", "spec", "specs", "__tests__", "__test__", "__snapshots__", "__fixtures__"),
        *("__mocks__", "__image_snapshots__", "testdata", "test_data", "fixtures", "fixture", "golden"),
        *("goldens", "snapshots", "e2e", "cypress", "playwright", "unittests", "unittest", "androidtest"),
        *("uitests", "integrationtest", "testsuite", "testcases", "testutils", "testhelpers", "jstests"),
        *("pytests", "doctests"),
    )
)
# Names that are a directory of tests only at the top of a project: elsewhere a program has parts called like that.
_AT_TOP = frozenset(("testing", "t", "xt", "acceptance", "conformance", "regress"))
# `MyApp.Tests/`, `AppTests/`, `jvmTest/`, `tests-integration/`, `test_utils/`, `unit_tests/`.
_DIRECTORY = re.compile(
    r"[\w.-]+Tests?|(?:tests?|specs?)[._-][\w.-]+|(?!ab[_-]test)[\w.-]+[._-](?:tests?|specs?|e2e)"
)
# `features/` is a directory of tests only with one of these in it; otherwise it has the features of a program.
_CUCUMBER = re.compile(
    r"(?:^|/)features/(?:[^/]+/)*+(?:[^/]+\.feature|environment\.py)$"
    r"|(?:^|/)features/(?:step_definitions|steps|support)/"
)

_SCRIPTS = "js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|coffee"
_CODE = (
    rf"(?:{_SCRIPTS}|py|pyx|rs|go|rb|pl|pm|php|lua|sh|bash|zsh|fish|c|h|cc|cpp|cxx|hpp|m|mm|java|kt|kts|scala|groovy|cs"
    r"|fs|vb|swift|dart|ex|exs|erl|clj|cljs|cljc|hs|ml|jl|r|R|d|zig|nim|cr|elm|sql|ps1|sol|v|sv|f90|adb|el|lisp|scm)"
)
# pytest and unittest do not collect these by themselves; sources have names like `lost_tests.py`, `place_spec.py`.
_PYTHON_SOURCE = re.compile(r"(?!test)\w*_(?:tests|specs?)\.py")
_FILES = re.compile(
    rf"""
      test_[^/]*\.\w+ | [^/]*[._-]tests?\.\w+ | [^/]*[._-](?:specs?|e2e)\.{_CODE} | tests?\.{_CODE}
    | [^/]*\.(?:test|spec|cy|e2e)(?:\.[\w-]+)*\.(?:{_SCRIPTS}) | [^/]*\.test-d\.tsx?
    | [^/]*[a-z0-9](?:Tests?|TestCases?|TestSuite|IT|ITCase)
      \.(?:java|kt|kts|scala|groovy|cs|fs|vb|swift|php|mm?|cpp|cc|hs|dart)
    | [^/]*[a-z0-9]Specs?\.(?:kt|kts|scala|groovy|swift|hs|js|ts|coffee|php)
    | Test[A-Z0-9][^/]*\.(?:java|kt|scala|groovy|cs|php|hs|m) | (?:Tests?|Spec)\.(?:hs|swift|elm|cs|java|kt)
    | conftest\.py | (?:test|spec|rails)_helper\.(?:rb|exs?|js|ts) | [^/]*[._-]fixtures?\.\w+ | [^/]*_tests?
    | [^/]*\.(?:snap|snapshot|golden|approved\.\w+|verified\.\w+|expected|feature|robot|bats|t|tap|snap\.new|ambr)
    | run[_-]?tests?(?:\.\w+)? | tests?[_-]?runner\.\w+
    """,
    re.VERBOSE,
)

# What came from elsewhere, and what a service reads, is no test whatever it is called.
_NEVER = frozenset(
    (
        *("node_modules", "vendor", "third_party", "site-packages", "bower_components", ".git", ".github"),
        *(".gitlab", ".circleci"),
    )
)
# Below one of these, a directory such as `snapshots/` or `spec/` is more often a part of the program.
_SHIPPED_NAMES = frozenset(("spec", "specs", "snapshots", "fixture", "playwright", "golden"))
_SOURCE_ROOTS = frozenset(("src", "lib", "app", "pkg", "internal", "cmd"))


def is_test_file(path: str, patterns: Sequence[str] = ()) -> bool:
    """Whether a file is a test, or something that only tests use, by its path below the project.

    `patterns` are those that settings of runners name (`runner_places.patterns_of_tests`), as in a .gitignore.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or not _NEVER.isdisjoint(parts[:-1]) or "/src/main/" in f"/{path}":
        return False
    if (_FILES.fullmatch(parts[-1]) and not _PYTHON_SOURCE.fullmatch(parts[-1])) or _CUCUMBER.search(path):
        return True
    return _is_below_tests(parts[:-1]) or (bool(patterns) and chosen(path, patterns))


def _is_below_tests(directories: Sequence[str]) -> bool:
    below_source = False
    for at, name in enumerate(directories):
        lower = name.lower()
        if lower in _DIRECTORIES and not (below_source and lower in _SHIPPED_NAMES):
            return True
        if (lower in _AT_TOP and at == 0) or (_DIRECTORY.fullmatch(name) and not name.startswith(".")):
            return True
        below_source = below_source or lower in _SOURCE_ROOTS
    return False
