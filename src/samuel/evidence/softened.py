"""Tests that a change has weakened, by comparing the text of test files before and after.

A finding is *certain* if the test cannot fail any more: it is gone, skipped, empty, asserts nothing, has an
assertion that can only pass instead of one that could fail, or is kept from running by another. Everything else is
a hint, which honest work gives as well: fewer assertions or cases, a wider tolerance, a skip under a condition,
lines that were only removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from samuel.evidence.softening.brace_cases import brace_cases
from samuel.evidence.softening.line_cases import line_cases
from samuel.evidence.softening.outline import CaseOutline, FileOutline
from samuel.evidence.softening.python_cases import python_cases

MAX_CHARACTERS = 1 << 18
MAX_FINDINGS = 200


class SoftenedTest(NamedTuple):
    """A test that checks less than before."""

    path: str
    name: str
    what: str
    """What happened to it, in words that follow its name."""
    is_certain: bool

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
    findings: list[SoftenedTest] = []
    for path, (old, new) in files.items():
        if len(findings) >= MAX_FINDINGS:
            break
        old_outline, new_outline = before[path], after[path]
        if old_outline and new_outline is not None:
            findings += _compared(path, old_outline, new_outline, moved)
        elif old_outline:
            findings.append(
                SoftenedTest(path, "", "is not understood any more, so its tests are not compared", False)
            )
        elif old != new:
            findings += _shortened(path, old, new)
    return findings[:MAX_FINDINGS]


def _outline(path: str, text: str) -> FileOutline | None:
    """The tests of a file by name; None if it is not understood."""
    if len(text) > MAX_CHARACTERS:
        return None
    extension = path.rpartition(".")[2].lower()
    if not text.strip():
        return {}
    if extension in ("py", "pyw"):
        return python_cases(text)
    outline = line_cases(text, extension)
    return outline if outline is not None else brace_cases(text, extension)


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


def _compared(
    path: str, before: FileOutline, after: FileOutline, moved: Mapping[str, CaseOutline]
) -> Iterator[SoftenedTest]:
    for name, old in before.items():
        if old.state not in ("runs", "conditional"):
            continue
        new = after.get(name) or (moved.get(f"body {old.body}") if old.body else None)
        new = new or moved.get(f"name {_last(name)}")
        for what, is_certain in _weaker(old, new) if new is not None else [("removed", True)]:
            yield SoftenedTest(path, name, what, is_certain)
    for name, case in after.items():
        if case.is_only and not (name in before and before[name].is_only):
            yield SoftenedTest(path, name, "is the only test left to run", True)


def _weaker(old: CaseOutline, new: CaseOutline) -> Iterator[tuple[str, bool]]:
    if new.state in ("skipped", "emptied"):
        yield new.state, True
        return
    if new.state == "conditional" and old.state == "runs":
        yield "skipped under a condition", False
    if new.tautologies > old.tautologies and new.assertions < old.assertions:
        yield "has an assertion that can only pass instead of one that could fail", True
    elif old.assertions and not new.assertions:
        yield "asserts nothing any more", True
    elif new.assertions < old.assertions:
        yield f"has fewer assertions ({old.assertions} -> {new.assertions})", False
    if new.rows < old.rows:
        yield f"has fewer cases ({old.rows} -> {new.rows})", False
    if new.tolerance > old.tolerance:
        yield f"has a wider tolerance ({old.tolerance:g} -> {new.tolerance:g})", False


def _shortened(path: str, old: str, new: str) -> Iterator[SoftenedTest]:
    """Of a file whose tests are not known, a golden file for example: lines that were removed, with none added."""
    before, after = (
        [line.strip() for line in text[:MAX_CHARACTERS].split("\n") if line.strip()] for text in (old, new)
    )
    if before and not after:
        yield SoftenedTest(path, "", "removed" if not new else "emptied", True)
        return
    lost = len(before) - len(after)
    if lost > 0 and set(after) <= set(before):
        yield SoftenedTest(path, "", f"{lost} line{'s' * (lost > 1)} removed, none added", False)
