"""The tests of a file in a language with braces, by the functions, macros and annotations of its runners."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from samuel.evidence.lexing import masked
from samuel.evidence.softening.brace_assertions import AssertionWords, CodeText, brace_assertions, rows_of
from samuel.evidence.softening.outline import CaseOutline, CaseState, FileOutline

MAX_CASES = 20_000

_QUOTED = r"""(?P<title>"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)"""
_JS_STARTS = (
    rf"(?<![\w.$])(?P<word>x?(?:it|test|specify)|fit|bench)(?P<modes>(?:\.\w+)*)\s*\(\s*{_QUOTED}"
    r"|(?<![\w.$])(?P<subtest>t\.test)\s*\(\s*(?P<subtitle>\"[^\"\n]*\"|'[^'\n]*')"
)
_JS_GROUPS = rf"(?<![\w.$])(?P<word>x?(?:describe|context|suite)|fdescribe)(?P<modes>(?:\.\w+)*)\s*\(\s*{_QUOTED}"
_JS_TABLES = r"(?<![\w.$])(?P<word>x?(?:it|test|describe))(?P<modes>(?:\.\w+)*\.each)\s*\("
_ATTRIBUTES = r"(?P<marks>(?:#\[[^\[\]]{0,300}(?:\[[^\[\]]{0,200}\][^\[\]]{0,100})?\]\s*){1,20})"
_ANNOTATED = r"(?P<marks>(?:@\w++(?:\([^()]{0,500}\))?\s++|\[[^\[\]\n]{1,300}\]\s*+){1,20})"
_MODIFIERS = r"(?:(?:public|private|protected|internal|static|final|async|override|suspend|virtual|open)\s++)*+"


class _Rules(NamedTuple):
    starts: re.Pattern[str]
    """A test; its group `name` or `title` is its name, `marks` what is written before it."""
    is_test: re.Pattern[str] | None
    """What `marks` or the name must have to make it a test."""
    skips: re.Pattern[str]
    """In the marks or in the body at its own level."""
    asserts: re.Pattern[str]


_COMMON_ASSERTS = r"\b(?:assert|expect|require|verify|check|should|fail)\w*\s*[.(!]|\.(?:should|must)\b"
_RULES = {
    "javascript": _Rules(
        re.compile(_JS_STARTS),
        None,
        re.compile(r"(?:\bthis|\bt|\bctx|\bcontext)\.skip\s*\(|(?<![\w.])skip\s*\(|\btest\.skip\(\s*\)"),
        re.compile(
            r"(?<![\w.$])(?:expect|assert|should)\b\s*[.(]|\.should\b"
            r"|\bt\.(?!test\b|plan\b|end\b|skip\b|log\b|context\b|teardown\b|timeout\b)\w+\s*\("
        ),
    ),
    "rust": _Rules(
        re.compile(rf"{_ATTRIBUTES}(?:pub(?:\([^()]*\))?\s+)?(?:(?:async|const|unsafe)\s+)*fn\s+(?P<name>\w+)"),
        re.compile(r"#\[\s*(?:\w+::)*(?:test|rstest|test_case|bench|quickcheck|proptest|case)\b|_test\b"),
        re.compile(r"#\[\s*(?:ignore|cfg\(any\(\))"),
        re.compile(
            r"\b(?:debug_)?assert\w*!|\bpanic!|\bunreachable!|\bprop_assert\w*!|\.unwrap(?:_err)?\(\)"
            r"|\.expect(?:_err)?\(|\?\s*;"
        ),
    ),
    "java": _Rules(
        re.compile(
            rf"{_ANNOTATED}{_MODIFIERS}(?:<[^<>]{{0,80}}>\s*)?"
            rf"(?:fun\s+(?P<quoted>`[^`\n]+`|\w+)|[\w.<>\[\]?, ]{{1,80}}?\s(?P<name>\w+))\s*\("
            r"|\bvoid\s+(?P<plain>test\w*)\s*\("
        ),
        re.compile(
            r"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property|Theory)\b"
            r"|\[(?:\w+\()?(?:Fact|Theory|Test|TestMethod|TestCase|DataTestMethod)\b"
        ),
        re.compile(
            r"@(?:Disabled|Ignore|Ignored)\b|\[[^\[\]]*\bIgnore\b|\bSkip\s*="
            r"|\bassume(?:True|False|That)?\s*\(|\bAssert\.(?:Ignore|Inconclusive)\b"
        ),
        re.compile(rf"{_COMMON_ASSERTS}|\bAssert\.\w+"),
    ),
    "go": _Rules(
        re.compile(r"^func\s+(?:\([^()\n]*\)\s*)?(?P<name>(?:Test|Fuzz|Example|Benchmark)\w*)\s*\(", re.MULTILINE),
        None,
        re.compile(r"\b\w{1,3}\.Skip(?:f|Now)?\s*\("),
        re.compile(
            r"\b\w{1,3}\.(?:Error|Fatal|Fail)\w*\s*\(|\b(?:assert|require|is|qt|c)\.\w+\s*\(|\bExpect\s*\("
        ),
    ),
    "c": _Rules(
        re.compile(
            r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|TEST_CASE|SCENARIO|BOOST_\w*TEST_CASE|Test|START_TEST|TEST_METHOD"
            r"|CTEST|UTEST|ZTEST|TEST_CASE_METHOD)\s*\(\s*(?P<call>[^()]{1,200})\)"
            r"|^(?:static\s+)?(?:void|int|bool)\s+(?P<name>test\w*|\w+_tests?|main)\s*\([^()]*\)",
            re.MULTILINE,
        ),
        None,
        re.compile(r"\bGTEST_SKIP\s*\(|\bSKIP\s*\(|\bTEST_IGNORE\w*\s*\(|\bck_skip\b|\bskip\s*\("),
        re.compile(
            r"\b(?:assert\w*|ASSERT\w*|EXPECT\w*|CHECK\w*|REQUIRE\w*|BOOST_(?:CHECK|REQUIRE|TEST)\w*|cr_(?:assert|expect)\w*"
            r"|ck_assert\w*|TEST_ASSERT\w*|g_assert\w*|QCOMPARE|QVERIFY|XCTAssert\w*|CPPUNIT_ASSERT\w*|abort|same)\s*\("
        ),
    ),
    "php": _Rules(
        re.compile(
            r"\bfunction\s+(?P<name>test\w*)\s*\(|#\[Test\]\s*(?:public\s+)?function\s+(?P<plain>\w+)"
            r"|(?<![\w>:$])(?:it|test)\s*\(\s*(?P<title>'[^'\n]*'|\"[^\"\n]*\")"
        ),
        None,
        re.compile(r"markTest(?:Skipped|Incomplete)\b|->(?:skip|todo)\s*\("),
        re.compile(r"(?:->|::)(?:assert|expect)\w*\s*\(|(?<!\w)expect\s*\("),
    ),
    "swift": _Rules(
        re.compile(r"\bfunc\s+(?P<name>test\w*)\s*\(|@Test\b[^\n]{0,200}?\bfunc\s+(?P<plain>\w+)"),
        None,
        re.compile(r"\bXCTSkip\b|\.disabled\s*\("),
        re.compile(r"\bXCTAssert\w*\s*\(|\bXCTFail\b|#(?:expect|require)\b|\bexpect\s*\("),
    ),
}
_FAMILIES = {
    **dict.fromkeys(["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"], ("javascript", "javascript")),
    **dict.fromkeys(["java", "groovy", "kt", "kts", "scala", "cs"], ("java", "java")),
    **dict.fromkeys(["c", "h", "cc", "cpp", "cxx", "hpp", "m", "mm"], ("c", "c")),
    "rs": ("rust", "rust"),
    "go": ("go", "go"),
    "php": ("php", "php"),
    "swift": ("swift", "kotlin"),
    "dart": ("javascript", "dart"),
    "cs": ("java", "csharp"),
    "kt": ("java", "kotlin"),
    "scala": ("java", "kotlin"),
}

# Functions that tests use, and lists; those words in front of a bracket are none.
_HELPER = re.compile(
    r"(?<![\w.])(?P<name>(?!(?:if|for|while|switch|catch|match|function|return|else|do|with|select|describe|it|test|not|any|all|cfg)\b)[A-Za-z_]\w*)"
    r"\s*\([^;{}()]{0,300}\)[^;{}()=\]]{0,60}\{|\b(?:const|let|var)\s+(?P<arrow>\w+)\s*=\s*(?:async\s*)?\([^;{}()]{0,300}\)\s*=>\s*\{"
)
_TABLE = re.compile(r"\b(?P<name>\w+)\s*(?::[^=;{}()]{0,80})?=\s*&?(?=[\[{])")
_SEMICOLONS = frozenset(("rust", "java", "c", "csharp", "php", "dart"))
MAX_NAMES = 300


def brace_cases(text: str, extension: str, *, is_test_file: bool = True) -> FileOutline | None:
    """The tests by name; None if the language is not here or the text is not understood.

    With `is_test_file` also the functions and lists that tests use, of Rust's source what is in its test module.
    """
    names = _FAMILIES.get(extension)
    plain = masked(text, names[1]) if names else None
    pairs = _pairs(plain) if plain is not None else None
    if names is None or plain is None or pairs is None:
        return None
    rules = _RULES[names[0]]
    code = CodeText(masked(text, names[1], keeps_strings=True) or text, plain, pairs, names[1] in _SEMICOLONS)
    cases = sorted(_cases(code, rules), key=lambda case: case.body)
    if len(cases) > MAX_CASES:
        return None
    inside = plain.find("#[cfg(test)]") if names[0] == "rust" else -1
    first = 0 if is_test_file else inside if inside >= 0 else len(plain)
    helpers = _helpers(code, cases, first)
    called = [*(case.name for case in cases), *helpers][:MAX_NAMES]
    functions = "|".join(re.escape(name) for name in called if name.isidentifier())
    calls = re.compile(rf"(?<![\w.])(?<!fn )(?<!func )(?:{functions})\s*\(") if functions else None
    words = AssertionWords(rules.asserts, calls)
    hidden, only = _groups(plain, pairs) if names[0] == "javascript" else ([], [])
    outlines: FileOutline = {}
    for name, span in helpers.items():
        outlines[name] = CaseOutline(assertions=tuple(brace_assertions(code, span, words)), is_helper=True)
    for table in _TABLE.finditer(plain, first):
        if not _is_inside(table.start(), cases) and (
            rows := rows_of(code, table.start(), _end(code, table.end()))
        ):
            outlines.setdefault(table["name"], CaseOutline(rows=rows, is_helper=True))
    count: Counter[str] = Counter()
    for case in cases:
        count[case.name] += 1
        state = _state(case.match, plain, case.body, rules)
        if any(start <= case.match.start() < end for start, end in hidden):
            state = "skipped"
        groups = case.match.groupdict()
        outlines[case.name if count[case.name] == 1 else f"{case.name} ({count[case.name]})"] = CaseOutline(
            state,
            tuple(brace_assertions(code, (case.body[0], _reached(plain, case.body)), words)),
            rows_of(code, case.start, case.body[1]),
            is_only=_is_only(groups) or case.match.start() in only,
            body="".join(code.text[slice(*case.body)].split())[:20_000]
            if plain[slice(*case.body)].strip()
            else "",
        )
    return outlines


class _Case(NamedTuple):
    name: str
    match: re.Match[str]
    start: int
    """Where it begins, with a table before its title."""
    body: tuple[int, int]


def _cases(code: CodeText, rules: _Rules) -> Iterator[_Case]:
    for start, match in _starts(code.plain, rules, code.pairs):
        groups = match.groupdict()
        marks = groups.get("marks") or ""
        if rules.is_test is None or groups.get("plain") or rules.is_test.search(marks):
            yield _Case(_name(match, code.text), match, start, _body(match, code.plain, code.pairs))


def _helpers(code: CodeText, cases: Sequence[_Case], first: int) -> dict[str, tuple[int, int]]:
    """The functions that are no tests and are in none, by name, with their bodies."""
    bodies = {case.body for case in cases}
    helpers: dict[str, tuple[int, int]] = {}
    for match in _HELPER.finditer(code.plain, first):
        opening = match.end() - 1
        span = (opening + 1, code.pairs.get(opening, opening + 2) - 1)
        if span not in bodies and not _is_inside(match.start(), cases):
            helpers.setdefault(match["name"] or match["arrow"], span)
    return helpers


def _is_inside(place: int, cases: Sequence[_Case]) -> bool:
    at = bisect_right(cases, place, key=lambda case: case.body[0]) - 1
    return at >= 0 and place < cases[at].body[1]


def _end(code: CodeText, opening: int) -> int:
    return code.pairs.get(opening, opening)


def _reached(plain: str, body: tuple[int, int]) -> int:
    """Where a `return` at the level of the test itself ends it, or its end."""
    inner = plain[slice(*body)]
    early = re.search(r"(?:^|[;}])\s*return\s*;", inner)
    is_own = early is not None and inner[: early.start()].count("{") == inner[: early.start()].count("}")
    return body[0] + early.start() if early is not None and is_own else body[1]


def brace_case_spans(text: str, extension: str) -> list[tuple[int, int]] | None:
    """Where each test begins and ends that is in no other; None as for `brace_cases`."""
    names = _FAMILIES.get(extension)
    plain = masked(text, names[1]) if names else None
    pairs = _pairs(plain) if plain is not None else None
    if names is None or plain is None or pairs is None:
        return None
    rules = _RULES[names[0]]
    spans: list[tuple[int, int]] = []
    for match in rules.starts.finditer(plain):
        groups = match.groupdict()
        is_marked = rules.is_test is None or bool(groups.get("plain")) or rules.is_test.search(match[0])
        if not is_marked or (spans and match.start() < spans[-1][1]):
            continue
        is_call = groups.get("title") is not None or groups.get("subtitle") is not None
        end = (
            pairs.get(plain.rfind("(", match.start(), match.end()))
            if is_call
            else _body(match, plain, pairs)[1] + 1
        )
        if end is None or end <= match.end():
            return None
        spans.append((match.start(), end + (plain[end : end + 1] == ";")))
    return spans


def _starts(plain: str, rules: _Rules, pairs: dict[int, int]) -> Iterator[tuple[int, re.Match[str]]]:
    """Where a test begins, and what says so."""
    yield from ((match.start(), match) for match in rules.starts.finditer(plain))
    if rules is _RULES["javascript"]:
        # `test.each([...])("title", ...)`: the title is behind the table.
        for table in re.finditer(_JS_TABLES, plain):
            end = pairs.get(table.end() - 1)
            match = re.compile(rf"(?P<word>)(?P<modes>)\s*\(\s*{_QUOTED}").match(plain, end) if end else None
            if match and "describe" not in table["word"]:
                yield table.start(), match


def _pairs(plain: str) -> dict[int, int] | None:
    """For each opening bracket the place behind its closing one; None if they do not match."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for mark in re.finditer(r"[{}()\[\]]", plain):
        if mark[0] in "{([":
            opened.append(mark.start())
        elif not opened or "{([".index(plain[opened[-1]]) != "})]".index(mark[0]):
            return None
        else:
            ends[opened.pop()] = mark.end()
    return None if opened else ends


def _name(match: re.Match[str], text: str) -> str:
    for group in ("name", "quoted", "plain", "title", "subtitle", "call"):
        if match.groupdict().get(group) is not None:
            return " ".join(text[slice(*match.span(group))].strip("\"'`").split())[:300]
    return ""


def _body(match: re.Match[str], plain: str, pairs: dict[int, int]) -> tuple[int, int]:
    """The text between the braces, or of a call behind its title."""
    groups = match.groupdict()
    if groups.get("title") is not None or groups.get("subtitle") is not None:
        start = plain.rfind("(", match.start(), match.end())
        brace = plain.find("{", match.end(), pairs.get(start, match.end()))
    else:
        brace = plain.find("{", match.end(), match.end() + 1000)
    return (brace + 1, pairs[brace] - 1) if brace >= 0 and brace in pairs else (match.end(), match.end())


def _state(match: re.Match[str], plain: str, body: tuple[int, int], rules: _Rules) -> CaseState:
    groups = match.groupdict()
    head = plain[match.start() : body[0]]
    modes = (groups.get("modes") or "").split(".")
    if (groups.get("word") or "").startswith("x") or {"skip", "todo", "failing", "fails"} & set(modes):
        return "skipped"
    if {"skipIf", "runIf"} & set(modes):
        return "conditional"
    if rules.skips.search(head) or re.search(r"\bDISABLED_|\bskip\s*:\s*true", head):
        return "skipped"
    if _CONFIGURED.search(groups.get("marks") or ""):
        return "conditional"
    if _is_in_unused_function(plain, match.start()):
        return "skipped"
    inner = plain[slice(*body)]
    if skip := rules.skips.search(inner):
        before = inner[: skip.start()]
        return (
            "skipped"
            if before.count("{") == before.count("}") and "if" not in before.split()[-3:]
            else "conditional"
        )
    return "runs" if inner.strip() else "emptied"


# `#[cfg(feature = "slow")]`: the test is compiled for some only.
_CONFIGURED = re.compile(r"#\[\s*cfg(?:_attr)?\s*\((?!\s*test\s*\))")
_ARROW = re.compile(r"\b(?:const|let|var)\s+(?P<name>\w+)\s*=\s*(?:async\s*)?\([^()\n]{0,80}\)\s*=>\s*\{?\s*$")


def _is_in_unused_function(plain: str, place: int) -> bool:
    """Whether the test is all of a function that is named nowhere else."""
    arrow = _ARROW.search(plain, max(place - 160, 0), place)
    return arrow is not None and len(re.findall(rf"\b{re.escape(arrow['name'])}\b", plain)) < 2


def _is_only(groups: dict[str, str | None]) -> bool:
    return "only" in (groups.get("modes") or "").split(".") or (groups.get("word") or "").startswith("f")


def _groups(plain: str, pairs: dict[int, int]) -> tuple[list[tuple[int, int]], set[int]]:
    """The places of groups of tests that are skipped, and where those begin that keep all others from running."""
    hidden: list[tuple[int, int]] = []
    only: set[int] = set()
    for group in re.finditer(_JS_GROUPS, plain):
        start = plain.rfind("(", group.start(), group.end())
        modes = group["modes"].split(".")
        if group["word"].startswith("x") or {"skip", "todo"} & set(modes):
            hidden.append((group.start(), pairs.get(start, group.end())))
        elif group["word"].startswith("f") or "only" in modes:
            test = re.search(_JS_STARTS, plain[group.end() :])
            only |= {group.end() + test.start()} if test else set()
    return hidden[:1000], only


_DEFINES = re.compile(
    r"(?:\b(?:const|let|var|function\*?|class|fn|func|fun|macro_rules!|struct|object)|#\s*define)\s+(?P<name>\w+)"
    r"(?!\s*=\s*(?:await\s+)?(?:require|import)\b)|(?<![\w.])(?P<owner>\w+)\.\w+\s*=(?![=>])"
    r"|^[\w\s*]{1,60}?[\s*](?P<function>\w+)\s*\([^;{}()]{0,200}\)\s*\{",
    re.MULTILINE,
)
_KEYWORDS = frozenset(
    ("if", "for", "while", "switch", "catch", "match", "return", "else", "this", "exports", "module")
)


def shadowed_names(old: str, new: str, extension: str) -> list[str]:
    """Names that the tests used before and did not define, and that they define themselves now."""
    names = _FAMILIES.get(extension)
    before, after = (masked(text, names[1]) if names else None for text in (old, new))
    if before is None or after is None:
        return []
    defined = [{match[match.lastgroup or 0] for match in _DEFINES.finditer(text)} for text in (before, after)]
    new_names = defined[1] - defined[0] - _KEYWORDS
    used = (name for name in new_names if re.search(rf"(?<![\w.]){re.escape(name)}\s*!?[(.]", before))
    return sorted({*used, *(new_names & {"NDEBUG"})})  # which takes the assertions of C away
