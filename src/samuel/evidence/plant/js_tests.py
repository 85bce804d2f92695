"""A failing test for the runners of JavaScript and TypeScript, with the functions that a test file uses itself.

For each way of asserting that the file uses there is a test: an attempt may have disarmed one of them only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from samuel.evidence.plant.planted import marker_parts, numbered

MOST_TESTS = 5
_VALUE = "@value@"
_HEAD = 20_000  # characters in which imports are looked for
_TEST_CALL = re.compile(
    r"""(?<![\w.$])(?P<name>(?:(?:tap|Deno|QUnit)\.)?(?:test|it|specify))(?:\.(?:serial|concurrent))?
    [ \t]*\(\s{0,20}["'`]""",
    re.VERBOSE,
)
_COMPUTED_CALL = re.compile(r"(?<![\w.$])(?P<name>(?:it|test)(?=\.each\b)|it(?=\())")  # its title is no literal
_PARAMETER = re.compile(
    r"""(?<![\w.$])(?:(?:tap|QUnit)\.)?(?:test|it)(?:\.serial)?[ \t]*\(\s{0,20}["'`][^"'`\n]{0,200}["'`]\s{0,20},
    \s{0,20}(?:async\b\s{0,9})?(?:function\b[ \t]{0,9}\w{0,40}[ \t]{0,9})?\(?\s{0,9}(?P<name>[A-Za-z_$][\w$]{0,30})
    \s{0,9}\)?\s{0,9}(?:=>|\{)""",
    re.VERBOSE,
)
_ONLY = re.compile(r"\b(?:test|it|describe|suite|context|specify)\.only\b|(?<![\w.$])f(?:it|describe)[ \t]*\(")
_IMPORT = re.compile(r"""^import\b[^;'"]{0,500}['"][^'"\n]{1,200}['"];?[ \t]*$""", re.MULTILINE)
_REQUIRE = re.compile(
    r"""^(?:(?:const|let|var)\b[^=;'"]{1,300}=\s?)?require\(['"][^'"\n]{1,200}['"]\)[^\n]{0,100}$""", re.MULTILINE
)
_RUN_CALL = re.compile(r"^\w{1,40}\.run\(\);?[ \t]*$", re.MULTILINE)  # uvu: what comes behind it is not run
_MATCHERS = ("toBe", "toEqual", "toStrictEqual")
_EQUALITIES = ("equal", "strictEqual", "deepEqual", "deepStrictEqual", "is", "same", "assertEquals")


def with_js_test(text: str, token: str, only: int | None = None) -> str | None:
    """The test file with failing tests behind its own; None if its way of writing tests is not a known one."""
    planted = _test_code(text, token, only)
    if not planted:
        return None
    ends = [match.start() for match in _RUN_CALL.finditer(text)]
    if ends:
        return f"{text[: ends[-1]]}{planted}\n{text[ends[-1] :]}"
    return f"{text.rstrip()}\n\n{planted}"


def separate_js_test(text: str, token: str, only: int | None = None) -> str | None:
    """A test file of its own with the imports of the sibling, so that the same code is loaded."""
    planted = _test_code(text, token, only)
    head = text[:_HEAD]
    imports = sorted((*_IMPORT.finditer(head), *_REQUIRE.finditer(head)), key=lambda match: match.start())
    runs = _RUN_CALL.findall(text)[-1:]
    lines = [*(match[0] for match in imports), "", planted or "", *runs]
    return "\n".join(lines).lstrip() if planted else None


def separate_js_name(name: str, token: str) -> str:
    """The name of a new test file that fits the same patterns: `cart.test.js` -> `<token>.test.js`."""
    stem, dot, suffix = name.partition(".")
    if prefix := re.match(r"tests?[-_]", stem):
        return f"{prefix[0]}{token}{dot}{suffix}"
    if ending := re.search(r"[-_](?:test|spec)$", stem):
        return f"{token}{ending[0]}{dot}{suffix}"
    return f"test-{token}{dot}{suffix}" if stem == "test" else f"{token}{dot}{suffix}"


def _test_code(text: str, token: str, only: int | None) -> str | None:
    call = _TEST_CALL.search(text) or _COMPUTED_CALL.search(text)
    if call is None or _ONLY.search(text):
        return None
    match = _PARAMETER.search(text)
    parameter = match["name"] if match else ""
    statements = list(islice(_statements(text, parameter), MOST_TESTS))
    ends = f"\n  {parameter}.end();" if parameter and f"{parameter}.end()" in text else ""
    plans = f"\n  {parameter}.plan(1);" if parameter and not ends and f"{parameter}.plan(" in text else ""
    tests = []
    for number, statement in numbered(statements, only):
        uses_parameter = bool(parameter) and (statement.startswith(f"{parameter}.") or bool(ends or plans))
        head = f"({parameter if uses_parameter else ''}) => {{"
        first, second = marker_parts(token, number)
        filled = statement.replace(_VALUE, f'["{first}", "{second}"].join("-")')
        lines = f"{plans if uses_parameter else ''}\n  {filled};{ends if uses_parameter else ''}"
        tests.append(f'{call["name"]}("{token} {number}", {head}{lines}\n}});\n')
    return "\n".join(tests) or None


def _statements(text: str, parameter: str) -> Iterator[str]:
    """Failing assertions, one for each way in which the file asserts equality or truth."""
    value = _VALUE
    if re.search(r"(?<![\w.$])expect[ \t]*\(", text):
        if re.search(r"\)\s{0,40}\.to\.", text):
            yield from (f'expect({value}).to.{name}("")' for name in ("equal", "eql") if f".{name}(" in text)
            if not re.search(r"\.eq(?:ual|l)\(", text):
                yield f'expect({value}).to.equal("")'
        else:
            names = [name for name in _MATCHERS if f".{name}(" in text]
            yield from (f'expect({value}).{name}("")' for name in names or _MATCHERS[:1])
    receivers = ["assert", *([parameter, f"{parameter}.assert"] if parameter else [])]
    for receiver in dict.fromkeys(receivers):
        start = rf"(?<![\w.$]){re.escape(receiver)}\."
        for name in _EQUALITIES:
            if re.search(rf"{start}{name}[ \t]*\(", text):
                yield f'{receiver}.{name}({value}, "")'
        for name in ("ok", "true", "truthy"):
            if re.search(rf"{start}{name}[ \t]*\(", text):
                yield f'{receiver}.{name}({value} === "", {value})'
    if re.search(r"(?<![\w.$])assert[ \t]*\(", text):
        yield f'assert({value} === "", {value})'
    for name in _EQUALITIES:
        imported = rf"\{{[^{{}}]{{0,300}}\b{name}\b[^{{}}]{{0,300}}\}}\s{{0,9}}(?:from|=)"
        if re.search(rf"(?<![\w.$]){name}[ \t]*\(", text) and re.search(imported, text[:_HEAD]):
            yield f'{name}({value}, "")'
