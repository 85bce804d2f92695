"""Which tests a task may change: those that its author names, and those that its words plainly speak of.

A task that owns a test may change what it expects. The input is the task as it was sealed when the run began,
never what an agent wrote into a row; and plain words only: "rename", "move X to Y", "remove X and its tests",
"update the snapshot", "the test is wrong", "adapt the tests", or the name of a test file. They must be an order:
"the report hides a changed test" and "support renaming" speak of the program. "Fix the failing tests" is not among
them: it can be said of the source.
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
# Where an order begins: "hides a changed test" and "support renaming files" speak of the program, not of the task.
_CLAUSE = (
    r"(?:^|[.;:,!?()\n]|\s[-*\u2013])\s*(?:(?:and|then|also|please)\s+){0,2}"
    r"|\b(?:must|should|by|please|needs? to|has to|have to)\s+"
)
_ORDER = rf"(?:{_CLAUSE}|\b(?:and|then|also)\s+)"
_CLAUSE = rf"(?:{_CLAUSE})"
_CHANGE = (
    r"(?:adapt|adjust|chang|updat|rewrit|correct|modif|edit|migrat|port|convert|refactor|tidy|simplif|clean up)"
    r"(?:e|ing|y)?"
)
_ALL = r"(?:(?:all|both|the|their|its|these|those|every|our|any|existing)\s+)*"
_NEED = r"(?:needs?|must|should|have|has|may|can|will)(?: to)?(?: be)?"
_THIS = r"(?:(?:^|[.;:,!?()\n])\s*|\b(?:the|this|these|that|those|both|its|our|all|and)\s+)"
_WRONG = r"(?:wrong|incorrect|obsolete|outdated|mistaken)"
_FIX = r"(?:fix|correct|repair|adapt|updat|remov|delet|drop|replac|chang)(?:e|ing)?"
_REASONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason)
    for pattern, reason in (
        (rf"{_CLAUSE}(?P<words>renam(?:e|ing))\b", "it renames something"),
        (
            rf"{_CLAUSE}(?P<words>(?:mov|merg)(?:e|ing)\b{_WORDS}\b(?:to|into|out of))\b",
            "it moves something",
        ),
        (
            rf"{_ORDER}(?P<words>(?:remov|delet|drop|get rid of)(?:e|ing)?\b{_WORDS}"
            r"\b(?:and|with|including|together with|along with)"
            rf"(?: all)?(?: of)? (?:its|their|the|his)\b{_WORDS}{_TESTS})"
            rf"|{_ORDER}(?P<tests>(?:remov|delet|drop)(?:e|ing)?\s+(?:\S+\s+){{0,3}}?{_TESTS})",
            "it removes tests",
        ),
        (
            rf"{_ORDER}(?P<words>(?:updat|regenerat|refresh|accept|adapt|chang|rewrit|re-?record)(?:e|ing)?\s+(?:\S+\s+){{0,4}}?"
            r"(?:snapshots?|golden files?|goldens?|fixtures?|cassettes?))\b",
            "it updates snapshots",
        ),
        (
            rf"{_THIS}(?P<words>{_TESTS}{_WORDS}\b(?:is|are|was|were)\s+(?:\w+\s+)?"
            r"(?:wrong|incorrect|obsolete|outdated|mistaken|invalid|too strict))\b"
            rf"|{_ORDER}{_FIX}\s+(?:the |this |these |its |an? |all )?(?P<tests>{_WRONG}\s+{_TESTS})"
            rf"|\bthere (?:is|are|was|were) (?:an? |some )?(?P<there>{_WRONG}\s+{_TESTS})",
            "it says that a test is wrong",
        ),
        (
            rf"{_ORDER}(?P<words>{_CHANGE}\s+{_ALL}{_TESTS})"
            rf"|{_THIS}(?P<tests>{_TESTS}\s+(?:\w+\s+){{0,2}}?{_NEED}\s+(?:adapt|adjust|chang|updat|rewrit|remov|delet|correct|fix|migrat)\w*)"
            rf"|{_ORDER}(?P<there>{_CHANGE}\s+(?:\S+\s+){{1,4}}?(?:and|with|including)\s+(?:its|their|the)\s+{_TESTS})",
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
        return OwnedTests((*by_files, *named), (f"its text names {'it' if len(named) == 1 else 'them'}",))
    for pattern, reason in _REASONS:
        order = next((match for match in pattern.finditer(text) if not _is_forbidden(text, match)), None)
        if order is not None:
            quoted = " ".join(order[order.lastgroup or 0].split())[:80]
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
