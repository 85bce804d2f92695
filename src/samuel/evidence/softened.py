"""Tests that a change has weakened, by comparing the text of test files before and after.

It is asked about tests that pass with the new source as they were, so that nothing called for the change. A test
is weaker if it is gone, skipped, empty or kept from running, has fewer cases, or has lost an assertion without one
as strong in its place: `==` that became `>=`, a wider tolerance, a condition around it. The same holds for a
function that tests use. A name that the tests took from the source and define themselves now is a finding too.

What is added, renamed, moved or only written differently is none; nor is another value that is expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from samuel.evidence.code_change import is_prose
from samuel.evidence.conventions import is_test_file
from samuel.evidence.softening.assertions import AssertionCounts, LostAssertion, count_of, counted, lost_assertions
from samuel.evidence.softening.brace_cases import brace_cases
from samuel.evidence.softening.brace_cases import shadowed_names as brace_shadows
from samuel.evidence.softening.line_cases import line_cases
from samuel.evidence.softening.outline import CaseOutline, FileOutline
from samuel.evidence.softening.python_cases import python_cases
from samuel.evidence.softening.python_cases import shadowed_names as python_shadows

MAX_CHARACTERS = 1 << 18
MAX_FINDINGS = 200
_PYTHON = ("py", "pyw", "pyi")
_NO_ASSERTION = "asserts nothing any more"
_DISARMED = ("removed", "emptied", "skipped", _NO_ASSERTION)


class SoftenedTest(NamedTuple):
    """A test that checks less than before."""

    path: str
    name: str
    what: str
    """What happened to it, in words that follow its name."""

    @property
    def is_disarmed(self) -> bool:
        """Whether it cannot fail any more."""
        return self.what in _DISARMED

    @property
    def line(self) -> str:
        return f"{self.path}: {self.name} {self.what}" if self.name else f"{self.path}: {self.what}"


def softened_tests(path: str, old: str, new: str) -> list[SoftenedTest]:
    """What one file has lost. A missing file is ""."""
    return softened_in({path: (old, new)})


def softened_in(files: Mapping[str, tuple[str, str]]) -> list[SoftenedTest]:
    """What these files, by path their old and new text, have lost together: a test that moved is not lost."""
    before = {path: _outline(path, old) for path, (old, _) in files.items()}
    after = {path: _outline(path, new) for path, (_, new) in files.items()}
    moved = _new_tests(before, after)
    counts = _Counts(_counted(before), _counted(after))
    findings: list[SoftenedTest] = []
    for path, (old, new) in files.items():
        if len(findings) >= MAX_FINDINGS:
            break
        old_outline, new_outline = before[path], after[path]
        if old == new:
            continue
        if old_outline and new_outline is not None:
            findings += _compared(path, old_outline, new_outline, moved, counts)
            findings += (SoftenedTest(path, "", f"defines `{name}` itself") for name in _shadowed(path, old, new))
        else:
            findings += _shortened(path, old, new)
    return findings[:MAX_FINDINGS]


def _outline(path: str, text: str) -> FileOutline | None:
    """The tests of a file by name; None if it is not understood."""
    if len(text) > MAX_CHARACTERS:
        return None
    extension = _extension(path)
    if not text.strip():
        return {}
    if extension in _PYTHON:
        return python_cases(text)
    outline = line_cases(text, extension)
    return outline if outline is not None else brace_cases(text, extension, is_test_file=is_test_file(path))


def _shadowed(path: str, old: str, new: str) -> list[str]:
    extension = _extension(path)
    if extension == "rs" and not is_test_file(path):  # the tests beside the source
        old, new = (text.partition("#[cfg(test)]")[2] for text in (old, new))
    elif not is_test_file(path):
        return []
    return python_shadows(old, new) if extension in _PYTHON else brace_shadows(old, new, extension)


def _extension(path: str) -> str:
    return path.rpartition(".")[2].lower()


def _new_tests(
    before: Mapping[str, FileOutline | None], after: Mapping[str, FileOutline | None]
) -> dict[str, CaseOutline]:
    """The tests that a file has now and had not, by name and by body: what is lost elsewhere may be here."""
    new: dict[str, CaseOutline] = {}
    for path, outline in after.items():
        old = before[path] or {}
        for name, case in (outline or {}).items():
            if name not in old:
                new[f"name {_last(name)}"] = case
                new[f"body {case.body}"] = case
    return new


def _last(name: str) -> str:
    """The name of a test without its class; a title of several words is whole."""
    return name if " " in name else name.rpartition(".")[2]


class _Counts(NamedTuple):
    """The assertions of all files together."""

    before: AssertionCounts
    after: AssertionCounts


def _counted(outlines: Mapping[str, FileOutline | None]) -> AssertionCounts:
    cases = (case for outline in outlines.values() for case in (outline or {}).values())
    return counted(assertion for case in cases for assertion in case.assertions)


def _compared(
    path: str, before: FileOutline, after: FileOutline, moved: Mapping[str, CaseOutline], counts: _Counts
) -> Iterator[SoftenedTest]:
    for name, old in before.items():
        if old.state not in ("runs", "conditional"):
            continue
        new = after.get(name)
        if new is not None and new.is_helper != old.is_helper:
            new = None  # it is a function of this name now, and no test
        if new is None and not old.is_helper:
            new = (moved.get(f"body {old.body}") if old.body else None) or moved.get(f"name {_last(name)}")
            if new is None:
                yield SoftenedTest(path, name, "removed")
        if new is not None:
            yield from (SoftenedTest(path, name, what) for what in _weaker(old, new, counts))
    for name, case in after.items():
        if case.is_only and not (name in before and before[name].is_only):
            yield SoftenedTest(path, name, "is the only test left to run")


def _weaker(old: CaseOutline, new: CaseOutline, counts: _Counts) -> Iterator[str]:
    """What the new version of a test does not do any more, in words that follow its name."""
    if new.state in ("skipped", "emptied"):
        yield new.state
        return
    if new.state == "conditional" and old.state == "runs":
        yield "skipped under a condition"
    if new.rows < old.rows:
        yield f"has fewer cases ({old.rows} -> {new.rows})"
    lost = lost_assertions(old.assertions, new.assertions, *counts)
    # A list of cases with one assertion about each may stand for assertions that were written out.
    strongest = max((assertion.strength for assertion in new.assertions), default=(0, 0.0))
    if new.rows - old.rows >= len(lost) and all(item.assertion.strength <= strongest for item in lost):
        return
    if lost:
        yield _what_is_lost(lost, count_of(old.assertions), count_of(new.assertions))


def _what_is_lost(lost: Sequence[LostAssertion], old_count: int, new_count: int) -> str:
    """About the first one, and the number of all if there are fewer."""
    assertion, instead = lost[0]
    if instead is not None and not instead.demand and not instead.context:
        return f"has an assertion that can only pass instead of one that could fail: {instead.quoted}"
    if not new_count:
        return _NO_ASSERTION
    if new_count < old_count:
        return f"has fewer assertions ({old_count} -> {new_count}): {assertion.quoted} is gone"
    if instead is None:
        return f"does not have {assertion.quoted} any more"
    if instead.demand == assertion.demand:
        return f"has a wider tolerance ({assertion.tolerance:g} -> {instead.tolerance:g})"
    return f"asserts less: {assertion.quoted} became {instead.quoted}"


_DATA = frozenset(
    [
        "json",
        "jsonl",
        "toml",
        "yaml",
        "yml",
        "ini",
        "cfg",
        "conf",
        "txt",
        "csv",
        "tsv",
        "xml",
        "html",
        "svg",
        "lock",
        "snap",
        "ambr",
        "golden",
        "sql",
        "mk",
    ]
)
_ASSERTING_LINE = re.compile(r"assert|expect|should|equal|verify|check|same|==", re.IGNORECASE)


def _shortened(path: str, old: str, new: str) -> Iterator[SoftenedTest]:
    """Of a file whose tests are not known, a golden file for example: lines that were removed, with none added.

    Of code in a language that is not known: lines with an assertion, of which there are fewer.
    """
    before, after = (
        [line.strip() for line in text[:MAX_CHARACTERS].split("\n") if line.strip()] for text in (old, new)
    )
    if before and not after:
        yield SoftenedTest(path, "", "removed" if not new else "emptied")
        return
    lost = len(before) - len(after)
    if lost > 0 and set(after) <= set(before):
        yield SoftenedTest(path, "", f"{lost} line{'s' * (lost > 1)} removed, none added")
        return
    asserting = [sum(bool(_ASSERTING_LINE.search(line)) for line in {*lines}) for lines in (before, after)]
    is_data = is_prose(path) or _extension(path) in _DATA or "." not in path.rpartition("/")[2]
    if asserting[1] < asserting[0] and not is_data:
        yield SoftenedTest(path, "", f"has fewer lines that assert something ({asserting[0]} -> {asserting[1]})")
