"""Which tests a task may change: those that its author names, and those that its words plainly speak of.

A task that owns a test may change what it expects. The input is the task as it was sealed when the run began,
never what an agent wrote into a row; and plain words only: "rename", "move X to Y", "remove X and its tests",
"update the snapshot", "the test is wrong", "adapt the tests", or the name of a test file. "Fix the failing tests"
is not among them: it can be said of the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from samuel.base.printable import listed
from samuel.evidence.conventions import is_test_file
from samuel.files.globs import chosen
from samuel.tasks.task import Task

MAX_TEXT = 20_000  # characters of a task that are read
MAX_NAMED = 5
ALL_TESTS = "*"

_WORDS = r"(?:[^.\n]|\.\w){0,60}?"
_WHICH = r"(?:unit |integration |existing |old |affected |corresponding |related |failing )*"
_TESTS = rf"\b{_WHICH}(?:tests?|test cases?|test files?|specs?|expectations?)\b"
_CHANGE = r"(?:adapt|adjust|chang|updat|rewrit|correct|modif|edit|migrat|port|convert)(?:e|es|ed|ing|s|y|ies)?"
_NEED = r"(?:needs?|must|should|have|has|may|can|will)(?: to)?(?: be)?"
_REASONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        (r"\brenam(?:e|es|ed|ing)\b", "it renames something"),
        (rf"\b(?:mov|merg)(?:e|es|ed|ing)\b{_WORDS}\b(?:to|into|out of)\b", "it moves something"),
        (
            rf"\b(?:remov|delet|drop|get rid of)\w*\b{_WORDS}\b(?:and|with|including|together with|along with)"
            rf"(?: all)?(?: of)? (?:its|their|the|his)\b{_WORDS}{_TESTS}"
            rf"|\b(?:remov|delet|drop)\w*\s+(?:\S+\s+){{0,3}}?{_TESTS}",
            "it removes tests",
        ),
        (
            r"\b(?:updat|regenerat|refresh|accept|adapt|chang|rewrit|re-?record)\w*\s+(?:\S+\s+){0,4}?"
            r"(?:snapshots?|golden files?|goldens?|fixtures?|cassettes?)\b",
            "it updates snapshots",
        ),
        (
            rf"{_TESTS}{_WORDS}\b(?:is|are|was|were)\s+(?:\w+\s+)?"
            r"(?:wrong|incorrect|obsolete|outdated|mistaken|invalid|too strict)\b"
            rf"|\b(?:wrong|incorrect|obsolete|outdated|mistaken)\s+{_TESTS}",
            "it says that a test is wrong",
        ),
        (
            rf"\b{_CHANGE}\s+(?:(?:all|both|the|their|its|these|those|every|our|any|existing)\s+)*{_TESTS}"
            rf"|{_TESTS}\s+(?:\w+\s+){{0,2}}?{_NEED}\s+(?:adapt|adjust|chang|updat|rewrit|remov|delet|correct|fix|migrat)\w*"
            rf"|\b{_CHANGE}\s+(?:\S+\s+){{1,4}}?(?:and|with|including)\s+(?:its|their|the)\s+{_TESTS}",
            "it says that tests change",
        ),
    )
)
# "do not change the tests" speaks of tests, and owns none.
_FORBIDS = re.compile(
    r"\b(?:do not|don't|never|must not|mustn't|should not|shouldn't|without|not|no need to|cannot|instead of)\b"
    r"[^.\n]{0,25}$",
    re.IGNORECASE,
)
_PATH = re.compile(r"[\w@+-][\w./@+*-]{0,250}")


class OwnedTests(NamedTuple):
    """The tests that a task may change, as patterns of a .gitignore, and why."""

    patterns: tuple[str, ...] = ()
    """ALL_TESTS stands for every test file."""
    reasons: tuple[str, ...] = ()
    """In words that follow "task 4 may change ..., because", one for each origin."""

    def of(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of the paths that the task owns. With ALL_TESTS: of the test files, all."""
        names = {pattern[1:].rstrip("/") for pattern in self.patterns if pattern.startswith("/")}
        return tuple(
            path
            for path in paths
            if path in names
            or chosen(path, [pattern for pattern in self.patterns if pattern != ALL_TESTS])
            or (ALL_TESTS in self.patterns and is_test_file(path))
        )

    def describe(self, id: str) -> str:
        """A line for `run init`; "" if the task owns no test by its words."""
        if not self.reasons:
            return ""
        named = [f"`{pattern.removeprefix('/')}`" for pattern in self.patterns if pattern != ALL_TESTS]
        what = "any test" if ALL_TESTS in self.patterns else listed(named, MAX_NAMED)
        return f"task {id} may change {what}, because {' and '.join(self.reasons)}"


def owned_by_files(task: Task) -> tuple[str, ...]:
    """The patterns of the task's `Files:`."""
    names = (_clean(name) for name in (*task.files_to_create, *task.files_to_modify))
    return tuple(f"/{name}" for name in names if name)


def owned_tests(task: Task, files: Sequence[str]) -> OwnedTests:
    """What a sealed task owns: its `Files:`, and the tests that its words speak of. `files` are the project's.

    A task whose `Files:` name a test file owns these and no others: its author was precise.
    """
    by_files = owned_by_files(task)
    if any(is_test_file(path) for path in files if chosen(path, by_files)) or any(
        is_test_file(pattern[1:]) for pattern in by_files
    ):
        return OwnedTests(by_files)
    text = "\n".join((task.title, task.description, *task.acceptance))[:MAX_TEXT]
    named = tuple(dict.fromkeys(_named_tests(text, files)))
    if named:
        return OwnedTests((*by_files, *named), ("its text names them",))
    for pattern, reason in _REASONS:
        words = next((match for match in pattern.finditer(text) if not _is_forbidden(text, match)), None)
        if words is not None:
            quoted = " ".join(words[0].split())[:80]
            return OwnedTests((*by_files, ALL_TESTS), (f'{reason} ("{quoted}")',))
    return OwnedTests(by_files)


def _is_forbidden(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 60) : match.start()]
    return bool(_FORBIDS.search(before)) or bool(re.search(r"\b(?:not|never|n't)\b", match[0], re.IGNORECASE))


def _named_tests(text: str, files: Sequence[str]) -> Iterator[str]:
    """The test files of the project that the text names by path, or by a name that only one file has."""
    by_name: dict[str, list[str]] = {}
    tests = [path for path in files if is_test_file(path)]
    for path in tests:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    paths = frozenset(tests)
    directories = frozenset(path[: match.end()] for path in tests for match in re.finditer("/", path))
    for word in _PATH.finditer(text):
        if _is_forbidden(text, word):
            continue
        name = _clean(word[0]).rstrip(".,:;")
        if name in paths:
            yield f"/{name}"
        elif "." in name and len(by_name.get(name, ())) == 1:
            yield f"/{by_name[name][0]}"
        elif name in directories and name.endswith("/") and is_test_file(f"{name}x"):
            yield f"/{name}"


def _clean(name: str) -> str:
    """A path as people write it: `./src/app.py`, `/src/`."""
    return name.strip().removeprefix("./").lstrip("/")
