"""The examples in the docstrings of a Python file: one version of the file with the examples of another.

A docstring with examples takes the place of that of the object with the same name. Examples of an object that the
other version does not have go into the module's `__test__`, where doctest and pytest look for them as well.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

MAX_CHARACTERS = 1 << 20
_EXAMPLE = re.compile(r"^[ \t]*>>> ", re.MULTILINE)
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class _Docstring(NamedTuple):
    node: _Documented
    text: str
    """"" without a docstring."""
    source: str
    """As it is in the file, with its quotes."""


def python_with_tests(code: str, tests: str) -> str | None:
    """The file `code` with the examples of the file `tests`; None without examples, or if one does not parse."""
    code_docs, test_docs = _docstrings(code), _docstrings(tests)
    if code_docs is None or test_docs is None:
        return None
    if not any(_has_examples(docs.text) for docs in (*code_docs.values(), *test_docs.values())):
        return None
    changes: list[tuple[int, int, str]] = []
    orphans: dict[str, str] = {}
    offsets = _line_offsets(code)
    for name, test in test_docs.items():
        own = code_docs.get(name)
        if own is not None and own.text == test.text:
            continue
        if own is not None and own.text and (_has_examples(own.text) or _has_examples(test.text)):
            changes.append((*_span(own.node.body[0], offsets, code), test.source or '""'))
        elif _has_examples(test.text):
            place = _first_line(own.node, offsets, code) if own is not None else None
            if place is None:
                orphans[name] = test.text
            else:
                changes.append((place[0], place[0], f"{place[1]}{test.source}\n"))
    for name, own in code_docs.items():
        if name not in test_docs and _has_examples(own.text):
            changes.append((*_span(own.node.body[0], offsets, code), '""'))
    text = code
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return _with_orphans(text, orphans) if orphans else text


def _has_examples(text: str) -> bool:
    return bool(_EXAMPLE.search(text))


def _docstrings(text: str) -> dict[str, _Docstring] | None:
    """The docstrings by the names of their objects, "" for the module's own; None if it does not parse."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    offsets = _line_offsets(text)
    docstrings: dict[str, _Docstring] = {}
    waiting: list[tuple[str, _Documented]] = [("", module)]
    while waiting:
        name, node = waiting.pop(0)
        expression = node.body[0] if node.body else None
        match expression:
            case ast.Expr(value=ast.Constant(value=str(value))):
                start, end = _span(expression, offsets, text)
                docstrings.setdefault(name, _Docstring(node, value, text[start:end]))
            case _:
                docstrings.setdefault(name, _Docstring(node, "", ""))
        for child in node.body:
            # doctest does not look into functions.
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(
                node, ast.Module | ast.ClassDef
            ):
                waiting.append((f"{name}.{child.name}" if name else child.name, child))
    return docstrings


def _line_offsets(text: str) -> list[int]:
    """Where each line begins, as ast counts lines: form feeds and the like end none."""
    offsets = [0]
    for line in re.finditer(r"\r\n|\r|\n", text):
        offsets.append(line.end())
    return offsets


def _span(node: ast.stmt, offsets: list[int], text: str) -> tuple[int, int]:
    """The characters of a statement; ast counts columns in bytes."""
    return (
        _position(node.lineno, node.col_offset, offsets, text),
        _position(node.end_lineno or node.lineno, node.end_col_offset or 0, offsets, text),
    )


def _position(line: int, column: int, offsets: list[int], text: str) -> int:
    start = offsets[line - 1]
    end = offsets[line] if line < len(offsets) else len(text)
    return start + len(text[start:end].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))


def _first_line(node: _Documented, offsets: list[int], text: str) -> tuple[int, str] | None:
    """Where a docstring could stand in a body on lines of its own, and its indentation; else None."""
    if isinstance(node, ast.Module):
        return None  # a line at the top may be in the way of an encoding; `__test__` serves as well
    first = node.body[0]
    line = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", ()))])
    start = offsets[line - 1]
    indentation = text[start : _position(line, first.col_offset, offsets, text)]
    return (start, indentation) if not indentation.strip() and line > node.lineno else None


def _with_orphans(text: str, orphans: dict[str, str]) -> str:
    """The module with these examples in its `__test__`, before it is run as a program."""
    entries = ", ".join(f"{name or '__doc__'!r}: {docstring!r}" for name, docstring in orphans.items())
    statement = f'__test__ = {{**globals().get("__test__", {{}}), {entries}}}\n'
    main = re.search(r"^if[ \t(]+__name__\b", text, re.MULTILINE)
    at = main.start() if main else len(text)
    separator = "" if not text[:at] or text[:at].endswith("\n") else "\n"
    return f"{text[:at]}{separator}{statement}{text[at:]}"
