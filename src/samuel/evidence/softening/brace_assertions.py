"""The assertions in a language with braces, by statements: what each demands, and what is around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from samuel.evidence.softening.assertions import Assertion, Demand

Pairs = dict[int, int]
"""For each opening bracket the place behind its closing one."""

MAX_CONTEXT = 8
MAX_DEPTH = 30

_FAIL = re.compile(
    r"\bthrow\b|\b\w{1,3}\.(?:Error|Fatal|Fail)\w*\s*\(|\babort\s*\(|\bpanic!|\bunreachable!|\bXCTFail\b"
    r"|(?<![\w.])fail\w*\s*\(|\bAssert\.Fail\b"
)
_CONDITION = re.compile(
    r"\b(?:if|else|catch|while|switch|when|unless|case|setTimeout|setImmediate|nextTick)\b|#\[cfg|#if"
)
_PREFIX = re.compile(rf"{_CONDITION.pattern}|\?(?!\.)|&&|\|\||\btry\b")
_ARROW = re.compile(r"(?<!forEach\()(?<!map\()(?<!each\()(?<!then\()\(?[\w, ]*\)?\s*=>\s*$")
_FUNCTION = re.compile(r"(?:\b(?:fn|func|fun|function)\s+|\b(?:const|let|var)\s+)(?P<name>\w+)[^{]*$")
_LEAVES = re.compile(
    r"\bif\b[^;{}]{0,200}\{?\s*(?:return|continue|break)\b|\bprocess\.(?:exit|reallyExit)\b|\bprocess::exit\b"
    r"|\b_?[eE]xit\s*\(|\bSystem\.exit\b|\bos\.Exit\b"
)
# A line without a semicolon behind which the next one belongs to it.
_CONTINUED = re.compile(
    r"\s*(?:\}?\s*else|(?:\}\s*else\s+)?(?:if|for|while)\s*\([^\n]{0,300}\))\s*$|.*(?:=>|&&|\|\||[,(])\s*$"
)
_TRY = re.compile(r"\btry\s*$")
_EMPTY_CATCH = re.compile(r"\}\s*catch\b\s*(?:\([^()]{0,200}\)\s*)?\{\s*\}")
_LOOP = re.compile(r"\b(?:if|for|switch|while)\b[^{}]*$")
_MARK = re.compile(r"[{};]")

_SAME = r"(?P<value>[\w.\"'+-]{1,80})"
TAUTOLOGY = re.compile(
    r"\bassert(?:!|\.ok|\.isTrue|True|That|_true)?\s*\(\s*(?:true|1|TRUE)\s*[,)]"
    rf"|\bassert\w*!?(?:\.\w+)?\s*\(\s*{_SAME}\s*,\s*(?P=value)\s*[,)]"
    r"|\bassert\w*!?(?:\.\w+)?\s*\(\s*(?P<call>\w+(?:\.\w+)?\([^()]*\))\s*(?:,|===?)\s*(?P=call)\s*[,)]"
    r"|\bexpect\s*\(\s*(?P<expected>true|false|\d+|\"[^\"\n]*\"|'[^'\n]*')\s*\)\s*(?:\.\w+)*\s*\(\s*(?P=expected)\s*\)"
    r"|\bexpect\s*\(\s*true\s*\)\.(?:toBeTruthy|toBeDefined|to\.be\.(?:true|ok))"
    r"|\b(?:EXPECT|ASSERT)_TRUE\s*\(\s*(?:true|1)\s*\)|\b(?:CHECK|REQUIRE)\s*\(\s*(?:true|1)\s*\)"
    r"|\bAssert\.(?:True|IsTrue)\s*\(\s*true\b|\bt\.(?:ok|true|assert|pass)\s*\(\s*(?:true\s*)?\)"
    r"|\bXCTAssert(?:True)?\s*\(\s*true\b"
    r"|^\w+\s*\(\s*(?P<constant>true|false|\d+|\"[^\"\n]*\")\s*,\s*(?P=constant)\s*\)"
)
_TOLERANCE = re.compile(
    r"(?:abs\s*\([^;\n]{0,120}\)|\.abs\(\))\s*<=?\s*(?P<below>[\d.eE+-]{1,20})"
    r"|(?:closeTo|Within|_NEAR|InDelta|isCloseTo|ApproxEq|almost_eq)\w*!?\s*\([^;\n]{0,200}?,\s*(?P<last>[\d.]+(?:e-?\d+)?)[fFdDmM]?\s*\)"
    r"|\b(?:eps(?:ilon)?|tol(?:erance)?|delta)\s*[:=]\s*(?P<named>[\d.]+(?:e-?\d+)?)"
)
_DIGITS = re.compile(r"\btoBeCloseTo\s*\([^;\n]{0,120}?,\s*(?P<digits>\d{1,2})\s*\)")
_NEAR = re.compile(r"[cC]loseTo|_NEAR\b|InDelta|Within|[aA]pprox|almost_eq|abs\s*\(|\.abs\(\)|epsilon")
_DIFFERS = re.compile(
    r"expect\.any|\.not\.|\bnot[A-Z]|Not|_ne\b|_NE\b|!=|doesNot|toBeDefined|toBeTruthy|is_some\(|is_ok\(|\.unwrap\(|\.expect\(|\?\s*;"
)
_RANGE = re.compile(
    r"(?<![-=<>])[<>](?!>)|Greater|Less|[cC]ontain|toMatch(?!\w*Snapshot)|\bmatch\(|[iI]nstance[oO]f|toHaveLength|\.includes?\b"
    r"|[sS]tarts_?[wW]ith|[eE]nds_?[wW]ith|\.len\(\)|\.length\b|\.size\(\)|hasSize|toHaveProperty|toThrow\(\)|_G[TE]\b|_L[TE]\b"
)
_EXACT = re.compile(
    r"[eE]qual|_eq\b|_EQ\b|\.is\(|toBe\(|\beql?\b|[sS]ame|STREQ|Snapshot|[nN]ull\b|toBeUndefined|==|strcmp|memcmp"
    r"|matches!|is_none|is_err|unwrap_err|toBe(?:True|False|NaN)|hrows?\b|toThrow|QCOMPARE|StrEq|deep"
)
_EQUALITY = re.compile(r"\b(?:assertEquals|AreEqual|assert_eq|Assert\.Equal)!?\s*\(")
_PLAIN_EXACT = re.compile(r"==|!\s*[\w.]+\.equals\b|!=|\bEqual\(|equals\(")


class CodeText(NamedTuple):
    """A text of which the comments are blanks, and the same with blanks between quotes."""

    text: str
    plain: str
    pairs: Pairs
    has_semicolons: bool


class AssertionWords(NamedTuple):
    """Where an assertion begins: by the words of its language, or by a function of the same file."""

    asserts: re.Pattern[str]
    helpers: re.Pattern[str] | None = None


def brace_assertions(code: CodeText, span: tuple[int, int], words: AssertionWords) -> list[Assertion]:
    """The assertions of the text between the braces of a test."""
    assertions: list[Assertion] = []
    start, end = span
    body = code.plain[start:end]
    headers: list[_Header] = []
    after: tuple[str, ...] = ()
    statement = start
    leaves = sorted((match.start(), match[0]) for match in _LEAVES.finditer(code.plain, start, end))
    position = start
    events = sorted(
        [
            *((mark.start(), mark[0], 0) for mark in _MARK.finditer(code.plain, start, end)),
            *((match.start(), "assert", match.end()) for match in words.asserts.finditer(code.plain, start, end)),
            *((match.start(), "assert", match.end()) for match in _FAIL.finditer(code.plain, start, end)),
            *(
                (match.start(), "helper", match.end())
                for match in (words.helpers.finditer(code.plain, start, end) if words.helpers else ())
            ),
        ]
    )
    for place, kind, match_end in events:
        while leaves and leaves[0][0] < place:
            after = (*after, _compact(leaves.pop(0)[1]))[:MAX_CONTEXT]
        if kind == "{":
            headers.append(_header(code.text[statement:place], body))
        elif kind == "}" and headers:
            headers.pop()
        if kind in "{};":
            # In `if got := f(); got != 6 {` the semicolon ends no statement.
            if kind != ";" or not _LOOP.search(
                code.plain, max(statement, code.plain.rfind("\n", start, place)), place
            ):
                statement = place + 1
            continue
        if place < position:  # a part of the one before: `assert.equal(expect(...))`
            continue
        position = _end_of_call(code, place, match_end, end)
        begin = statement if code.has_semicolons else _line_start(code.plain, statement, place)
        assertions.append(
            _assertion(code, (begin, place, position), headers[-MAX_DEPTH:], after, kind == "helper")
        )
    return assertions


class _Header(NamedTuple):
    """What stands before the brace of a block inside of a test."""

    text: str
    is_condition: bool
    is_try: bool
    is_unreached: bool
    """Whether it belongs to a function that the test does not call."""


def _header(text: str, body: str) -> _Header:
    function = _FUNCTION.search(text)
    is_unreached = function is not None and len(re.findall(rf"\b{re.escape(function['name'])}\b", body)) < 2
    return _Header(text, bool(_CONDITION.search(text)), bool(_TRY.search(text)), is_unreached)


def _assertion(
    code: CodeText,
    places: tuple[int, int, int],
    headers: Sequence[_Header],
    after: tuple[str, ...],
    is_helper: bool,
) -> Assertion:
    begin, place, end = places
    prefix, text = code.text[begin:place], code.text[place:end]
    conditions = [header.text for header in headers if header.is_condition]
    if _FAIL.match(code.plain, place):
        condition = prefix if _CONDITION.search(prefix) else conditions.pop() if conditions else ""
        demand = _demand_of_failure(condition)
        text = f"{condition} fails"
    else:
        demand = _demand_of_helper(text) if is_helper else demand_of(text)
        if _PREFIX.search(prefix) or _ARROW.search(prefix):
            demand = min(demand, Demand.SOME)
            text = f"{prefix}{text}"
    if conditions or after:
        demand = min(demand, Demand.SOME)
    is_tried = bool(headers) and headers[-1].is_try and _is_swallowed(code, end)
    if is_tried or any(header.is_unreached for header in headers):
        demand = Demand.NOTHING
    context = (*map(_compact, conditions), *after)[:MAX_CONTEXT]
    return Assertion(_compact(text), demand, _tolerance(text) if demand == Demand.RANGE else 0.0, context)


def demand_of(text: str) -> Demand:
    """What the assertion with this text demands."""
    if TAUTOLOGY.search(text) or _compares_with_itself(text):
        return Demand.NOTHING
    if _NEAR.search(text) or _tolerance(text):
        return Demand.RANGE
    if _DIFFERS.search(text):
        return Demand.SOME
    if _RANGE.search(text):
        return Demand.RANGE
    return Demand.EXACT if _EXACT.search(text) else Demand.SOME


def _demand_of_helper(text: str) -> Demand:
    """The same of the call of a function that asserts something, or of a test: as much as that does."""
    if TAUTOLOGY.search(text) or _compares_with_itself(text):
        return Demand.NOTHING
    parts = [part.strip() for part in _arguments(text.partition("(")[2])]
    if any(part in ("true", "false") for part in parts):  # `same(f() > 0, true)`
        return min(
            Demand.RANGE, *(demand_of(f"assert({part})") for part in parts if part not in ("true", "false"))
        )
    return Demand.EXACT


def _compares_with_itself(text: str) -> bool:
    parts = [_compact(part) for part in _arguments(text.partition("(")[2])[:2]]
    return len(parts) == 2 and parts[0] == parts[1]


def _demand_of_failure(condition: str) -> Demand:
    """The same of a statement that fails under this condition."""
    if re.search(r"\bif\s*\(?\s*(?:false|0)\b", condition):
        return Demand.NOTHING
    if not condition or _PLAIN_EXACT.search(condition):
        return Demand.EXACT
    return Demand.RANGE if re.search(r"[<>]", condition) else Demand.SOME


def _is_swallowed(code: CodeText, end: int) -> bool:
    """Whether the block around this place has a `catch` without a statement."""
    closing = code.plain.find("}", end)
    return closing >= 0 and bool(_EMPTY_CATCH.match(code.plain, closing))


def _end_of_call(code: CodeText, place: int, match_end: int, limit: int) -> int:
    """Where an assertion ends: behind its brackets and those of what is called on it."""
    opening = code.plain.find("(", place, min(match_end + 80, limit))
    end = code.pairs.get(opening, match_end) if opening >= 0 else match_end
    chain = re.compile(r"\s*[.?!]+\s*\w+!?\s*(?=\()|\s*\.\s*\w+(?!\s*\()")
    while link := chain.match(code.plain, end, limit):
        end = code.pairs.get(link.end(), link.end())
    if not _FAIL.match(code.plain, place):
        return end
    semicolon = code.plain.find(";", end, limit)
    return semicolon if 0 <= semicolon < end + 300 else end


def _line_start(plain: str, statement: int, place: int) -> int:
    """Where the statement at this place begins, in a language in which a line end may end one."""
    start = plain.rfind("\n", statement, place) + 1
    if start <= statement:
        return statement
    before = plain.rfind("\n", statement, start - 1) + 1
    line = plain[max(before, statement) : start - 1]
    return max(before, statement) if _CONTINUED.match(line) else start


def _tolerance(text: str) -> float:
    values = [_float(next(filter(None, match.groups()), "")) for match in _TOLERANCE.finditer(text)]
    values += [10.0 ** -int(match["digits"]) for match in _DIGITS.finditer(text)]
    if (call := _EQUALITY.search(text)) and len(parts := _arguments(text[call.end() :])) == 3:
        values.append(_float(parts[2].strip(" fFdDmM\n")))
    return max(values, default=0.0)


def _arguments(text: str) -> list[str]:
    """The arguments of a call, from behind its bracket."""
    parts, depth = [""], 0
    for character in text[:2000]:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                break
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def rows_of(code: CodeText, start: int, end: int) -> int:
    """The elements of the lists that are written out here, each once."""
    return sum(len(set(elements)) for elements in _lists(code, start, end))


_LIST = re.compile(r"(?:\(|\bof\s|\bin\s|(?<![=!<>])=|vec!|\}|\]\w+)\s*&?\s*(?P<open>[\[{])")


def _lists(code: CodeText, start: int, end: int) -> Iterator[list[str]]:
    position = start
    while match := _LIST.search(code.plain, position, end):
        opening = match.start("open")
        closing = code.pairs.get(opening, 0)
        inner = code.text[opening + 1 : closing - 1]
        is_object = code.plain[opening] == "{" and ":" in code.plain[opening:closing]
        if closing and closing <= end and not is_object and ";" not in code.plain[opening:closing]:
            yield [_compact(part) for part in _split(code, opening + 1, closing - 1) if part.strip()]
            position = closing if inner else opening + 1
        else:
            position = opening + 1


def _split(code: CodeText, start: int, end: int) -> Iterator[str]:
    begin = position = start
    while match := re.compile(r"[(\[{,]").search(code.plain, position, end):
        if match[0] == ",":
            yield code.text[begin : match.start()]
            begin = position = match.end()
        else:
            position = code.pairs.get(match.start(), match.end())
    yield code.text[begin:end]


def _compact(text: str) -> str:
    return "".join(text.split())[:2000]


def _float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if abs(value) < 1e300 else 0.0
