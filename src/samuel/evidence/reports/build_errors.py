"""The errors of compilers in an output: which files do not build, and whether only for want of a name.

A build that fails by several errors fails for want of a name only if each of them says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from samuel.evidence.reports.suite import FailureKind

MAX_ERRORS = 1000
LONGEST_LINE = 1000

_MISSING_CODES = frozenset(
    (
        # rustc
        *("E0026", "E0027", "E0405", "E0407", "E0412", "E0422", "E0423", "E0424", "E0425", "E0432", "E0433"),
        *("E0437", "E0438", "E0463", "E0531", "E0532", "E0559", "E0560", "E0574", "E0576", "E0583", "E0599"),
        *("E0609", "E0610"),
        # the C# compiler
        *("CS0103", "CS0117", "CS0234", "CS0246", "CS1061", "CS1501", "CS1739"),
        # TypeScript
        *("TS2304", "TS2305", "TS2307", "TS2339", "TS2551", "TS2552", "TS2554", "TS2614", "TS2694", "TS2724"),
    )
)
_FOLLOWING_CODES = frozenset(("E0282", "E0283"))  # a type that cannot be inferred, since the name is missing
_MISSING_MESSAGE = re.compile(
    r"cannot find symbol|package .{1,200} does not exist|.{1,200} cannot be resolved"  # Java
    r"|[Uu]nresolved reference"  # Kotlin
    r"|undefined: |.{1,200} undefined \(type .{1,300} has no field or method"  # Go
    r"|unknown field .{1,200} in struct"
    r"|.{1,200} not declared by package|no required module provides|too many arguments in call"
    r"|cannot find package|package .{1,200} is not in "
    r"|cannot find (?:macro|derive macro|attribute)"  # rustc, without a code
    r"|implicit declaration of function|.{1,200} undeclared|use of undeclared|call to undeclared"  # C and C++
    r"|.{1,200} was not declared in this scope|.{1,200}: No such file or directory"
    r"|.{0,200} has no member named|no member named|unknown type name|.{1,200} file not found"
    r"|.{1,200} is not a member of|undefined reference to|no matching function for call"
)
_RUST = re.compile(r"error(?:\[(E\d{4})\])?: (.{0,400})")
_RUST_PLACE = re.compile(r"\s{0,12}--> ([^:\s][^:]{0,300}):\d{1,9}:\d{1,9}")
_RUST_SUMMARY = re.compile(
    r"(?:aborting due to|could not compile|\d{1,6} targets? failed|(?:doc)?test failed|test run failed"
    r"|process didn't exit|build failed)"
)
_PLACED = re.compile(
    r"(?:\[ERROR\] |e: (?:file://)?)?((?:[A-Za-z]:)?[^\s:(\[][^:(\[]{0,300}\.\w{1,8})"
    r"(?::\[?(\d{1,9})[:,]?\s?(\d{0,9})\]?:?|\((\d{1,9}),(\d{1,9})\):?)"
    r"\s{1,4}(?:(?:fatal )?(error|warning|note)(?: ([A-Z]{2}\d{4}))?:? ?)?(.{0,600})$"
)
_LINKER = re.compile(r".{0,400}?:? ?(undefined reference to .{0,200})$")
_CODED_ONLY = re.compile(r"(?:.{0,300} )?error ([A-Z]{2}\d{4}): (.{0,400})$")


class BuildError(NamedTuple):
    """One error of a compiler or linker."""

    file: str
    """As the compiler names it; "" if it names none."""
    kind: FailureKind
    """`missing` or `error`."""


def build_errors(text: str) -> list[BuildError]:
    """The errors that compilers printed, in order; [] for an output without any."""
    return list(islice(_errors(text.splitlines()), MAX_ERRORS))


def kind_of_build_errors(text: str) -> FailureKind | None:
    """`missing` if every error is for want of a name, else `error`; None for an output without any."""
    kinds = {error.kind for error in build_errors(text)}
    return ("missing" if kinds == {"missing"} else "error") if kinds else None


def _errors(lines: list[str]) -> Iterator[BuildError]:
    follows: list[BuildError] = []
    is_missing = False
    for number, full in enumerate(lines):
        line = full[:LONGEST_LINE].rstrip()
        if (rust := _RUST.match(line)) and not _RUST_SUMMARY.match(rust[2]):
            place = next(filter(None, map(_RUST_PLACE.match, lines[number + 1 : number + 4])), None)
            if rust[1] is None and place is None:
                continue
            error = BuildError(place[1] if place else "", _kind(rust[1] or "", rust[2]))
            if rust[1] in _FOLLOWING_CODES:
                follows.append(error)
                continue
        elif (placed := _PLACED.match(line)) and _is_error(placed):
            error = BuildError(placed[1], _kind(placed[7] or "", placed[8]))
        elif linker := _LINKER.match(line):
            error = BuildError("", _kind("", linker[1]))
        elif coded := _CODED_ONLY.match(line):
            error = BuildError("", _kind(coded[1], coded[2]))
        else:
            continue
        is_missing = is_missing or error.kind == "missing"
        yield error
    if not is_missing:
        yield from follows


def _is_error(placed: re.Match[str]) -> bool:
    """Whether a line `file:1:2: text` is an error. Go writes no word for it, and stack frames look alike."""
    if placed[6]:
        return placed[6] == "error"
    if placed[0].startswith(("[ERROR] ", "e: ")):
        return True
    return placed[1].endswith(".go") and bool(placed[3]) and not placed[0].startswith((" ", "\t"))


def _kind(code: str, message: str) -> FailureKind:
    if code:
        return "missing" if code in _MISSING_CODES or _more_arguments(message) else "error"
    return "missing" if _MISSING_MESSAGE.match(message) else "error"


def _more_arguments(message: str) -> bool:
    """Whether a call has more arguments than the function takes: a parameter that does not exist yet."""
    counts = re.search(r"takes (\d{1,3}) arguments? but (\d{1,3}) ", message)
    return counts is not None and int(counts[2]) > int(counts[1])
