"""How a test failed, read from the words of its runner.

`assertion` is the strong word, so it is given only where the type of the exception or the runner's own sentence
says that an expectation was not met. `missing` needs the type as well: any exception may carry such a message.
"""

from __future__ import annotations

import re

from samuel.evidence.reports.build_errors import kind_of_build_errors
from samuel.evidence.reports.suite import FailureKind

MAX_LINES = 400
LONGEST_LINE = 1000  # characters that are looked at
MOST_TEXT = 40_000  # characters at each end

_ASSERTION_TYPES = re.compile(
    r"(?:\w*Assertion(?:Failed)?(?:Error|Exception)|AssertFailedException|ComparisonFailure|MultipleFailuresError"
    r"|ExpectationFailedException|ExpectationNotMetError|MultipleExpectationsNotMetError|JestAssertionError"
    r"|Minitest::Assertion|Test::Unit::AssertionFailedError|Xunit\.Sdk\.\w+|TrueException|EqualException)"
)
# What runners and libraries write without a type. Each begins the message.
_ASSERTION_TEXT = re.compile(
    r"assert(?:\.\w{1,40})?[ (]"  # pytest without a type; jest for node's assert
    r"|expect\(.{0,80}\)\.|expect\.\w{1,40}\("  # jest
    r"|Failed: DID NOT (?:RAISE|WARN)"  # pytest
    r"|\[?XPASS\(strict\)"
    r"|Failed asserting that"  # phpunit
    r"|Assert\.\w{1,40}\(\) Failure|Assert\.\w{1,40} failed"  # xunit, MSTest
    r"|Expected: |expected: <|expected .{0,200} (?:but was|to |but got)"
    r"|assertion (?:`|failed)|note: test did not panic as expected|Test passed, but"  # Rust
    r"|.{0,300}\bAssertion (?:`.{0,300}' failed|failed: )"  # C
    r"|`.{0,400}' failed$"  # bats: a command ended with status 1
    r"|Difference(?: \(- actual, \+ expected\)|:$)|Value (?:is not|must|should)|Values are"  # ava
)
_MISSING_TYPES = re.compile(
    r"ModuleNotFoundError|NameError|FileNotFoundError|NoSuch(?:Method|Field)(?:Error|Exception)"
    r"|ClassNotFoundException|NoClassDefFoundError|NoSuchFileException|FileNotFoundException"
    r"|Missing(?:Method|Field|Member)Exception|TypeLoadException|UndefinedFunctionError|LoadError"
)
_MISSING_MESSAGES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(types), re.compile(message))
    for types, message in (
        (r"ImportError", r"cannot import name|No module named"),
        (r"AttributeError", r"(?!'NoneType')"),
        (r"TypeError", r".{0,300}(?:unexpected keyword argument|positional arguments? but \d{1,3} )"),
        (r"TypeError", r".{0,300} is not a (?:function|constructor)|.{0,300}does not provide an export"),
        (r"ReferenceError", r".{0,300} is not defined"),
        (r"SyntaxError", r".{0,300}(?:does not provide an export named|export .{0,200} not found)"),
        (r"Error", r"Cannot find (?:module|package)|Failed to (?:resolve import|load url)|ENOENT|\[vitest\] No "),
        (r"NoMethodError", r"undefined method (?!.{0,200}for nil)"),
        (r"ArgumentError", r"unknown keywords?:"),
        (r"Error", r"Call to undefined (?:method|function)|(?:Class|Interface|Trait|Enum) .{1,200} not found"),
        (r"Error", r"Undefined constant|Unknown named parameter|Failed opening required"),
    )
)
# The same without a type, where the runner writes none.
_MISSING_TEXT = re.compile(
    r"fixture '[^']{1,200}' not found"  # pytest
    r"|Cannot find (?:module|package) '"  # jest
    r"|Can't locate \S{1,200} in @INC|Can't locate object method|Undefined subroutine"  # Perl
    r"|.{0,200}: command not found|`.{0,400}' failed with status 127$"  # shells, bats
    r"|undefined: \w"
)
_NAME = r"(?:[A-Za-z_$][\w$]{0,80}(?:\.|\\|::)){0,12}[A-Za-z_$][\w$]{0,80}"
_HEADLINE = re.compile(
    r"(?:Exception in thread \"[^\"]{0,100}\" |cause: |=> |"
    r"(?:PHP )?Fatal error:\s{1,4}Uncaught |\[?Error \[ERR_TEST_FAILURE\]: |Uncaught )?"
    rf"({_NAME}(?:Error|Exception|Failure|Interrupt|Exit|Assertion|Warning)|Error|Exception|Failed)"
    r"(?: \[[A-Za-z_]{1,60}\])?(?: ?:(?:\s(.{0,600}))?| \{)?$"
)
_THROWN_OBJECT = re.compile(r"(\w{1,80}) \{\s{1,80}message: ['\"`](.{0,300})['\"`]")
_RUBY_ARGUMENTS = re.compile(r"wrong number of arguments \(given (\d{1,3}), expected (?:\d{1,3}\.\.)?(\d{1,3})\)")
_PYTEST_MARK = "E  "
_RUST_PANIC = re.compile(r"panicked at (?:'(.{0,500})|.{0,300}:\d{1,9}:\d{1,9}:$)")


def kind_of_failure(text: str, exception: str = "") -> FailureKind:
    """The kind of a failure with this text; `exception` is its type, where the report gives it apart."""
    lines = _lines(text)
    if exception and (kind := _typed(exception, lines[0] if lines else "")):
        return kind
    if panic := _panic(lines):
        return "assertion" if _ASSERTION_TEXT.match(panic) else "error"
    marked = [line[1:].strip() for line in lines if line.startswith(_PYTEST_MARK)]  # the others are source code
    lines = marked or lines
    if not lines or _ASSERTION_TEXT.match(lines[0]):
        return "assertion" if lines else "error"
    headlines = [(number, match) for number, line in enumerate(lines) if (match := _HEADLINE.match(line))]
    if not headlines:
        return kind_of_build_errors(text) or _untyped(lines)
    # A Python traceback ends with the exception that counts; others begin with it. Node wraps it as a cause.
    causes = [headline for headline in headlines if lines[headline[0]].startswith("cause: ")]
    is_python = bool(marked) or any(line.startswith("Traceback (most recent call last)") for line in lines)
    number, match = causes[0] if causes else headlines[-1 if is_python else 0]
    message = match[2] or (lines[number + 1] if number + 1 < len(lines) else "")  # Ruby writes it below the type
    return _typed(match[1], message) or "error"


def kind_of_thrown_object(text: str) -> FailureKind:
    """The kind of an exception that ava shows as an object: `TypeError { message: '...' }`."""
    thrown = _THROWN_OBJECT.search(text)
    return kind_of_failure(f"{thrown[1]}: {thrown[2]}") if thrown else "error"


def _typed(exception: str, message: str) -> FailureKind | None:
    """The kind that a type and its message have; None for a type that says nothing, as `failure` in a report."""
    name = re.split(r"\.|\\|::", exception)[-1]
    message = re.sub(rf"^(?:{_NAME}(?:Error|Exception)(?: \[\w{{1,60}}\])?: )", "", message[:LONGEST_LINE])
    if _ASSERTION_TYPES.fullmatch(name) or _ASSERTION_TYPES.fullmatch(exception):
        return "assertion"
    if name == "NoClassDefFoundError" and message.startswith("Could not initialize"):
        return "error"
    if _MISSING_TYPES.fullmatch(name):
        return "missing"
    if any(types.fullmatch(name) and text.match(message) for types, text in _MISSING_MESSAGES):
        return "error" if "partially initialized module" in message else "missing"
    if name == "ArgumentError" and (numbers := _RUBY_ARGUMENTS.match(message)):
        return "missing" if int(numbers[1]) > int(numbers[2]) else "error"
    if name in ("Error", "Failed") and _ASSERTION_TEXT.match(message if name == "Error" else f"Failed: {message}"):
        return "assertion"
    if name.endswith(("Error", "Exception")) and name not in ("Error", "Exception"):
        return "error"
    return None


def _untyped(lines: list[str]) -> FailureKind:
    """The kind of a text in which no exception is named, by the first line that says something."""
    for line in lines:
        if _ASSERTION_TEXT.match(line):
            return "assertion"
        if _MISSING_TEXT.match(line):
            return "missing"
    return "error"


def _panic(lines: list[str]) -> str:
    """What a Rust test panicked with; "" if it did not."""
    for number, line in enumerate(lines):
        if line.startswith("note: test did not panic"):
            return line
        if match := _RUST_PANIC.search(line):
            return match[1] or (lines[number + 1] if number + 1 < len(lines) else " ") or " "
    return ""


def _lines(text: str) -> list[str]:
    """The lines that are not empty, at most MAX_LINES of them from both ends."""
    if len(text) > 2 * MOST_TEXT:
        text = f"{text[:MOST_TEXT]}\n{text[-MOST_TEXT:]}"
    lines = [stripped for line in text.splitlines() if (stripped := line.strip()[:LONGEST_LINE])]
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES // 2], *lines[-MAX_LINES // 2 :]]
