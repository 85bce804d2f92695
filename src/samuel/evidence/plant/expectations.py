"""Test files with one changed expectation each, where no test can be added: a suite that lists its tests by hand.

The rules are conservative: what is changed is a literal that an assertion compares with. Whether the assertion
runs is not known, so there are several candidates, in the order of the file, first one of each test.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import NamedTuple

from samuel.evidence.plant.python_tests import parsed_python, skips
from samuel.evidence.plant.source_mask import arguments_of, masked

MOST_CANDIDATES = 6
MOST_CALLS = 500  # assertions of a file that are looked at
JS_SUFFIXES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
C_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh")
SHELL_SUFFIXES = (".sh", ".bash", ".bats")
_EXPECTED_SUFFIXES = (".txt", ".out", ".expected", ".golden", ".exp", ".ref", ".stdout", ".csv")
_NUMBER = r"-?\d{1,15}(?:\.\d{1,15})?"
_LITERAL = re.compile(rf'\s*(?P<literal>"_*"|\'_+\'|{_NUMBER}|true|false)\s*')
# Also the last one of several with `&&` between them: all of them must hold.
_COMPARED = re.compile(rf'[^|?]{{0,500}}[^=!<>|?]===?\s*(?P<literal>"_*"|\'_+\'|{_NUMBER}|true|false)\s*')
_JS_CALL = re.compile(
    r"(?P<callee>(?<!\.not)\.(?:toBe|toEqual|toStrictEqual)"
    r"|\b(?:assert|t)\.(?:equal|strictEqual|deepEqual|deepStrictEqual|is)"
    r"|(?<![\w.$])(?:strictEqual|assert))[ \t]*\("
)
_RUST_CALL = re.compile(r"(?P<callee>\bassert(?:_eq)?!)[ \t]*\(")
_C_WORD = "assert|check|expect|same|equal|equals|verify|eq|test"
_C_CALLEE = (
    rf"\b(?:\w{{0,40}}_)?(?:{_C_WORD}|{_C_WORD.upper()}|{_C_WORD.title()})(?:(?:_|(?<=[a-z])[A-Z])\w{{0,40}})?"
)
_C_CALL = re.compile(rf"(?P<callee>{_C_CALLEE})[ \t]*\(")
_JAVA_CALL = re.compile(rf"(?P<callee>{_C_CALLEE}|\.isEqualTo)[ \t]*\(")
_EQUALITY = re.compile(r"eq|same", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"(?:^|_)(?:ne|not|neq|false|static|null|true|message|msg|fail)(?:_|$)|differ|static_assert"
    r"|(?-i:[a-z](?:Not|False|Null|Throws)(?![a-z]))",
    re.IGNORECASE,
)
_SHELL_TEST = re.compile(
    r"^\s{0,40}(?:\[\[? |test )[^=|&\n]{1,200} ==? "
    r"(?P<literal>\"[^\"$`\\\n]{0,200}\"|'[^'\n]{0,200}'|[\w.-]{1,100})"
    r"(?P<rest>[^\n]{0,300})$",
    re.MULTILINE,
)


class _Edit(NamedTuple):
    start: int
    end: int
    new: str
    test_name: str = ""


class ChangedExpectation(NamedTuple):
    """A text with one literal of an assertion changed."""

    text: str
    test_name: str = ""


def changed_expectations(path: str, text: str, token: str) -> tuple[ChangedExpectation, ...]:
    """The candidates for a test file, or for a file with expected output; () in a language that is not known."""
    edits: Iterator[_Edit] = iter(())
    if path.endswith(".py"):
        edits = _python(text, token)
    elif path.endswith(SHELL_SUFFIXES):
        edits = _shell(text, token)
    elif path.endswith(JS_SUFFIXES):
        edits = _calls(text, masked(text, is_js=True), _JS_CALL, token)
    elif path.endswith(_EXPECTED_SUFFIXES):
        edits = iter([_Edit(len(text), len(text), f"{'' if text.endswith(chr(10)) else chr(10)}{token}\n")])
    for suffixes, pattern in (((".rs",), _RUST_CALL), ((".java", ".kt"), _JAVA_CALL), (C_SUFFIXES, _C_CALL)):
        if path.endswith(suffixes):
            edits = _calls(text, masked(text), pattern, token)
    return tuple(
        ChangedExpectation(f"{text[: edit.start]}{edit.new}{text[edit.end :]}", edit.test_name)
        for edit in _first_of_each(islice(edits, MOST_CALLS))
    )


def _first_of_each(edits: Iterable[_Edit]) -> list[_Edit]:
    """A bounded number of edits: one of each test before a second one of any."""
    counts: Counter[str] = Counter()
    ranked: list[tuple[int, int, _Edit]] = []
    for edit in edits:
        counts[edit.test_name] += 1
        ranked.append((counts[edit.test_name], len(ranked), edit))
    return [edit for _, _, edit in sorted(ranked)[:MOST_CANDIDATES]]


# Python


def _python(text: str, token: str) -> Iterator[_Edit]:
    module = parsed_python(text)
    if module is None:
        return
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for name, node in _python_expectations(module):
        new = _python_literal(node.value, token)
        if new and node.lineno == node.end_lineno and node.end_col_offset is not None:
            line = lines[node.lineno - 1].encode()  # columns are counted in bytes
            place = starts[node.lineno - 1] + len(line[: node.col_offset].decode())
            length = len(line[node.col_offset : node.end_col_offset].decode())
            yield _Edit(place, place + length, new, name)


def _python_expectations(module: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    """The literals that assertions compare with, each with the name of its test."""
    for scope in _python_scopes(module):
        name = "" if isinstance(scope, ast.Module) else scope.name
        nodes = [node for child in scope.body for node in ast.walk(child)] if name else [*scope.body]
        for node in nodes:
            match node:
                case ast.Assert(test=ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant() as constant])):
                    yield name, constant
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(attr="assertEqual"), args=[_, ast.Constant() as second])
                ):
                    yield name, second
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(attr="assertEqual"), args=[ast.Constant() as first, _])
                ):
                    yield name, first


def _python_scopes(module: ast.Module) -> Iterator[ast.Module | ast.FunctionDef | ast.AsyncFunctionDef]:
    yield module
    for node in module.body:
        children = node.body if isinstance(node, ast.ClassDef) and not skips(node.decorator_list) else [node]
        for child in children:
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if child.name.startswith("test") and not skips(child.decorator_list):
                yield child


def _python_literal(value: object, token: str) -> str:
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1) if abs(value) < 1 << 60 else ""
    if isinstance(value, str):
        return ascii(value + token)
    return ""


# Languages with calls in parentheses


def _calls(text: str, mask: str, pattern: re.Pattern[str], token: str) -> Iterator[_Edit]:
    for call in islice(pattern.finditer(mask), MOST_CALLS):
        places = arguments_of(mask, call.end() - 1)
        line = mask[mask.rfind("\n", 0, call.start()) + 1 : call.start()].lstrip()
        if not places or _NEGATIVE.search(call["callee"]) or line.startswith("#define"):
            continue
        place = _literal_of(mask, call["callee"], places)
        if place is not None:
            start, end = place
            new = _changed_literal(text[start:end], token)
            if new:
                yield _Edit(start, end, new)


def _literal_of(mask: str, callee: str, places: list[tuple[int, int]]) -> tuple[int, int] | None:
    """The place of the literal that a call compares with; None where that is not plain.

    An argument is a comparison itself, or one of two arguments is a literal; a third one is a message or a
    tolerance.
    """
    arguments = [mask[slice(*place)] for place in places]
    for (start, _), argument in zip(places[:2], arguments, strict=False):
        if compared := _COMPARED.fullmatch(argument):
            return start + compared.start("literal"), start + compared.end("literal")
    literals = [_LITERAL.fullmatch(argument) for argument in arguments]
    if callee.startswith("."):
        order = [0]
    elif callee in ("assert", "assert!") or not 2 <= len(places) <= (
        3 if "." in callee or "quals" in callee else 2
    ):
        return None
    elif not all(literals[:2]) and '"' in "".join(arguments[:2]) and not _EQUALITY.search(callee):
        return None  # `check(is_open(), "it is open")`: a message
    else:
        order = [1, 0]
    for number in order:
        if literal := literals[number]:
            start = places[number][0]
            return start + literal.start("literal"), start + literal.end("literal")
    return None


def _changed_literal(literal: str, token: str) -> str:
    if literal in ("true", "false"):
        return "false" if literal == "true" else "true"
    if literal[0] == '"' or (literal[0] == "'" and len(literal) > 3):
        return f"{literal[:-1]}{token}{literal[-1]}"
    if literal[0] == "'":  # one character, which must stay one in C
        return "'y'" if literal == "'x'" else "'x'"
    if re.fullmatch(_NUMBER, literal):
        whole, dot, rest = literal.partition(".")
        return f"{int(whole) + 1}{dot}{rest}"
    return ""


# Shell


def _shell(text: str, token: str) -> Iterator[_Edit]:
    """Comparisons whose failure ends the script: with `|| ...` behind them, or under `set -e`."""
    ends_on_failure = bool(re.search(r"^\s{0,9}set -\w{0,9}e|^#!.{0,60} -\w{0,9}e", text, re.MULTILINE))
    for test in _SHELL_TEST.finditer(text):
        rest = test["rest"].lstrip(" ]")
        if rest.startswith("||") or (ends_on_failure and not rest):
            literal = test["literal"]
            new = f"{literal[:-1]}{token}{literal[-1]}" if literal[0] in "\"'" else f"{literal}{token}"
            yield _Edit(test.start("literal"), test.end("literal"), new)
