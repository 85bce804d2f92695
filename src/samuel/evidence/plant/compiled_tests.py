"""A failing test for Rust, Go and Java, in the idiom of a file with tests."""

from __future__ import annotations

import re

from samuel.evidence.plant.planted import marker_parts, numbered

MOST_TESTS = 5
_GO_FUNCTION = re.compile(r"^func Test\w{0,200}\((?P<name>\w{1,30}) \*testing\.T\)", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^package (\w{1,100})", re.MULTILINE)
_RUST_MODULE = re.compile(
    r"^[ \t]*#\[cfg\(test\)\]\s{0,200}(?:pub(?:\([a-z]+\))? )?mod \w{1,100}\s{0,9}\{", re.MULTILINE
)
_RUST_TEST = re.compile(r"^[ \t]*#\[(?:\w{1,40}::)?test\]", re.MULTILINE)
_JAVA_IMPORT = re.compile(r"^import [\w.* ]{1,300};[ \t]*$", re.MULTILINE)
_JAVA_PACKAGE = re.compile(r"^package [\w.]{1,300};", re.MULTILINE)
_JAVA_TEST = re.compile(r"^[ \t]*@(?:org\.[\w.]{1,60}\.)?Test\b", re.MULTILINE)


# Rust


def with_rust_test(text: str, token: str, only: int | None = None) -> str | None:
    """A file with tests of its own, or with a `#[cfg(test)]` module, with a failing test behind them."""
    if not _RUST_TEST.search(text):
        return None
    if _RUST_MODULE.search(text):
        # `use super::*` and a place at the end: a macro of the source that replaces `assert_eq!` is in force here.
        code = f"#[cfg(test)]\nmod {token} {{\n    #[allow(unused_imports)]\n    use super::*;\n\n"
        code += f"{_rust_code(text, token, only, '    ')}}}\n"
    else:
        code = _rust_code(text, token, only)
    return f"{text.rstrip()}\n\n{code}"


def separate_rust_test(text: str, token: str, only: int | None = None) -> str | None:
    """A file of `tests/`, with the `use` lines of a sibling there."""
    if not _RUST_TEST.search(text):
        return None
    uses = re.findall(r"^(?:#\[macro_use\]\s{0,9})?(?:use|extern crate) [^;{}\n]{1,300};", text, re.MULTILINE)
    lines = [f"#[allow(unused_imports)]\n{use}" for use in uses]
    return "\n".join((*lines, "", _rust_code(text, token, only)))


def _rust_code(text: str, token: str, only: int | None, indent: str = "") -> str:
    statements = ['assert_eq!({value}, "")']
    if re.search(r"\bassert!\s?\(", text):
        statements.append('assert!({value}.is_empty(), "{{}}", {value})')
    tests = []
    for number, statement in numbered(statements, only):
        first, second = marker_parts(token, number)
        value = f'concat!("{first}", "-", "{second}")'  # also where there is no standard library
        head = f"{indent}#[test]\n{indent}fn {token}_{number}() {{\n"
        tests.append(f"{head}{indent}    {statement.format(value=value)};\n{indent}}}\n")
    return "\n".join(tests)


# Go


def with_go_test(text: str, token: str, only: int | None = None) -> str | None:
    """A test file with a failing test behind its own."""
    return f"{text.rstrip()}\n\n{_go_code(text, token, only)}" if _is_plain_go(text) else None


def separate_go_test(text: str, token: str, only: int | None = None) -> str | None:
    """A test file of its own for the same package, which is one program with the sibling."""
    package = _GO_PACKAGE.search(text)
    if package is None or not _is_plain_go(text):
        return None
    return f'package {package[1]}\n\nimport "testing"\n\n{_go_code("", token, only)}'


def _is_plain_go(text: str) -> bool:
    has_constraint = re.search(r"^//(?:go:build| \+build) ", text, re.MULTILINE)
    return bool(_GO_FUNCTION.search(text)) and '"testing"' in text and not has_constraint


def _go_code(text: str, token: str, only: int | None) -> str:
    statements = ['if value != "" {\n\t\tt.Errorf("got %q", value)\n\t}']
    for package in ("assert", "require"):  # of testify
        if re.search(rf"\b{package}\.Equal\(t, ", text):
            statements.append(f'{package}.Equal(t, "", value)')
    tests = []
    for number, statement in numbered(statements, only):
        first, second = marker_parts(token, number)
        value = f'value := "{first}-"\n\tvalue += "{second}"'
        tests.append(f"func Test{token.capitalize()}{number}(t *testing.T) {{\n\t{value}\n\t{statement}\n}}\n")
    return "\n".join(tests)


# Java


def with_java_test(text: str, token: str, only: int | None = None) -> str | None:
    """A test class with failing tests at its end."""
    end = text.rstrip().rfind("}")
    code = _java_code(text, token, only)
    if end < 0 or not code or not _JAVA_TEST.search(text) or text[end + 1 :].strip():
        return None
    return f"{text[:end].rstrip()}\n\n{code}}}\n"


def separate_java_test(text: str, token: str, only: int | None = None) -> str | None:
    """A test class of its own, with the package and the imports of the sibling."""
    code = _java_code(text, token, only)
    if not code or not _JAVA_TEST.search(text):
        return None
    package = _JAVA_PACKAGE.search(text)
    lines = [package[0] if package else "", "", *_JAVA_IMPORT.findall(text), ""]
    return "\n".join((*lines, f"public class {java_class(token)} {{", f"{code}}}")) + "\n"


def java_class(token: str) -> str:
    """The name of a new test class, by the pattern that Maven's surefire looks for."""
    return f"{token.capitalize()}Test"


def _java_code(text: str, token: str, only: int | None) -> str:
    statements = []
    for receiver in ("", "Assertions.", "Assert.", "assertions."):
        if re.search(rf"(?<![\w.]){re.escape(receiver)}assertEquals\(", text):
            statements.append(f'{receiver}assertEquals("", {{value}})')
        if re.search(rf"(?<![\w.]){re.escape(receiver)}assertTrue\(", text):
            statements.append(f"{receiver}assertTrue({{value}}.isEmpty())")
    if re.search(r"(?<![\w.])assertThat\(", text) and ").isEqualTo(" in text:
        statements.append('assertThat({value}).isEqualTo("")')
    tests = []
    for number, statement in numbered(statements[:MOST_TESTS], only):
        first, second = marker_parts(token, number)
        filled = statement.format(value=f'String.join("-", "{first}", "{second}")')
        tests.append(f"    @Test\n    public void {token}_{number}() {{\n        {filled};\n    }}\n")
    return "\n".join(tests)
