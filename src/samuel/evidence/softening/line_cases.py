"""The tests of a Ruby or shell file, by lines: a test ends where a line closes it at its own indentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from samuel.evidence.softening.assertions import Assertion, Demand
from samuel.evidence.softening.outline import CaseOutline, CaseState, FileOutline

MAX_LINES = 20_000
MAX_BODY = 300  # lines of one test
MAX_CONTEXT = 8
SCRIPT = "the script"
"""The name of a shell script without tests of their own, as a test."""


class _Rules(NamedTuple):
    starts: re.Pattern[str]
    closes: str
    skips: re.Pattern[str]
    asserts: re.Pattern[str]
    tautology: re.Pattern[str]


_RUBY = _Rules(
    re.compile(
        r"(?P<word>x?(?:it|specify|scenario|example|test)|fit|pending)\s*\(?\s*(?P<title>\"[^\"]{0,300}\"|'[^']{0,300}')(?P<rest>.*)"
        r"|def\s+(?P<name>test_\w+)|(?P<short>it\s*\{.*\})\s*$"
    ),
    "end",
    re.compile(r"^\s*(?:skip|pending|omit)\b(?P<condition>.*\b(?:if|unless)\b)?"),
    re.compile(r"\b(?:expect|is_expected|assert\w*|refute\w*|should\w*|must_\w+|wont_\w+|flunk|raise_error)\b"),
    re.compile(
        r"\bassert\(?\s+?true\b|\bassert\(true\)|expect\((?P<v>true|1)\)\.to (?:eq|be)\(?\s*(?P=v)"
        r"|assert_equal\(? ?(?P<w>[\w:\"']+), (?P=w)\)?\s*$"
    ),
)
_SHELL = _Rules(
    re.compile(
        r"@test\s+(?P<title>\"[^\"]{0,300}\"|'[^']{0,300}')(?P<rest>.*)|(?:function\s+)?(?P<name>test\w*)\s*\(\)(?P<short>)?.*"
    ),
    "}",
    re.compile(r"^\s*(?:skip|startSkipping)\b(?P<condition>)?"),
    re.compile(
        r"(?:^|[;&|]|\bthen|!|\bif)\s*(?:\[\[?\s|test\s|assert\w*|refute\w*|diff\b|cmp\b|grep\b)|\|\|\s*(?:exit|return|fail)\b"
    ),
    re.compile(r"^\s*(?:\[ 1 (?:=|-eq) 1 \]|true|:)\s*$"),
)
_CONDITION = re.compile(r"(?:if|unless|while|case|rescue|else|elif|elsif)\b")
_DIFFERS = re.compile(r"!=|\s-n[e]?\s|not_to|to_not|refute|wont_|not_equal|be_truthy")
_RANGE = re.compile(
    r"\s-(?:gt|ge|lt|le)\s|[<>]=?\s*\d|include|match|grep|=~|within|be_(?:an?|kind)|cover|respond_to|raise_error\s*$"
)
_EXACT = re.compile(
    r"=|\beq\b|\beql|-eq\b|equal|diff\b|cmp\b|be_nil|assert_nil|raise_error|\|\|\s*(?:exit|return|fail)\b"
)
_QUIET = re.compile(r"\|\|\s*(?:true|:)\s*$|^\s*set \+e\b|^exit 0\b")


def line_cases(text: str, extension: str) -> FileOutline | None:
    """The tests by name; None for another language."""
    lines = text.split("\n")
    if extension not in ("rb", "sh", "bash", "bats", "zsh") or len(lines) > MAX_LINES:
        return None
    rules = _RUBY if extension == "rb" else _SHELL
    outlines: FileOutline = {}
    count: Counter[str] = Counter()
    for number, line in enumerate(lines):
        indented = line[:1000].lstrip()
        start = rules.starts.match(indented)
        if not start:
            continue
        name = (start["title"] or "").strip("\"'") or start["name"] or start["short"] or ""
        indentation = line[: len(line) - len(line.lstrip())]
        body = [] if start["short"] else _body(lines, number + 1, f"{indentation}{rules.closes}")
        if start["short"]:
            body = [start["short"]]
        count[name] += 1
        outlines[name if count[name] == 1 else f"{name} ({count[name]})"] = _outline(start, body, rules)
    if rules is _SHELL and not outlines and text.strip():
        return {SCRIPT: _script(lines)}
    return outlines


def _body(lines: list[str], first: int, closing: str) -> list[str]:
    body: list[str] = []
    for line in lines[first : first + MAX_BODY]:
        if line.rstrip() == closing or line.startswith((f"{closing} ", f"{closing};")):
            break
        body.append(line)
    return body


def _outline(start: re.Match[str], body: list[str], rules: _Rules) -> CaseOutline:
    code = [line for line in body if line.strip() and not line.lstrip().startswith("#")]
    groups = start.groupdict()
    state: CaseState = "runs" if code else "emptied"
    word, rest = groups.get("word") or "", groups.get("rest") or ""
    skips = [match for line in code if (match := rules.skips.search(line))]
    if word.startswith("x") or word == "pending" or re.search(r"\b(?:skip|pending):", rest):
        state = "skipped"
    elif skips:
        state = "conditional" if all(skip["condition"] for skip in skips) else "skipped"
    return CaseOutline(
        state,
        tuple(_assertions(code, rules)),
        is_only=word == "fit" or bool(re.search(r"\b(?:focus: true|:focus)", rest)),
        body="".join("".join(code).split())[:20_000],
    )


def _script(lines: list[str]) -> CaseOutline:
    """A script up to a line at its own level that ends it."""
    code: list[str] = []
    for line in lines:
        if re.match(r"(?:exit|return)(?:\s+0)?\s*(?:#.*)?$", line):
            break
        code.append(line)
    plain = [line for line in code if line.strip() and not line.lstrip().startswith("#")]
    body = "".join("".join(plain).split())[:20_000]
    return CaseOutline("runs" if plain else "emptied", tuple(_assertions(plain, _SHELL)), body=body)


def _assertions(lines: list[str], rules: _Rules) -> Iterator[Assertion]:
    """One for each line that can fail; those behind a condition have it around them."""
    context: list[tuple[int, str]] = []
    for line in lines:
        indentation = len(line) - len(line.lstrip())
        context = [(depth, text) for depth, text in context if depth < indentation]
        if rules.tautology.search(line):
            yield Assertion(line.strip(), Demand.NOTHING)
        elif rules.asserts.search(line):
            demand = Demand.NOTHING if _QUIET.search(line) else _demand(line)
            if context or _CONDITION.search(line):
                demand = min(demand, Demand.SOME)
            yield Assertion(line.strip(), demand, context=tuple(text for _, text in context)[:MAX_CONTEXT])
        if _CONDITION.match(line.lstrip()):
            context.append((indentation, line.strip()))


def _demand(line: str) -> Demand:
    if _DIFFERS.search(line):
        return Demand.SOME
    if _RANGE.search(line):
        return Demand.RANGE
    return Demand.EXACT if _EXACT.search(line) else Demand.SOME
