"""Hiding every second test function of some files, so that answers cannot be written for just the tests one sees.

Half of the functions, rounded up, stay visible, and so do files without any. Where no function is found in any
file, every second file is hidden.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from samuel.evidence.softening.brace_cases import brace_case_spans

Span = tuple[int, int]


class SplitTests(NamedTuple):
    visible: dict[str, bytes | None]
    """Each file without its hidden functions; None for one that is hidden as a whole."""
    hidden: int
    """How many functions are hidden."""


def split_tests(files: Mapping[str, bytes]) -> SplitTests:
    """What of these files is visible."""
    functions = {path: _functions(path, files[path]) for path in sorted(files)}
    if not any(spans for _, spans in functions.values()):
        hidden = sorted(files)[1::2]
        return SplitTests({path: None if path in hidden else files[path] for path in files}, len(hidden))
    visible: dict[str, bytes | None] = {}
    number = count = 0
    for path, (text, spans) in functions.items():
        hidden_spans = [span for at, span in enumerate(spans, number) if at % 2]
        number += len(spans)
        count += len(hidden_spans)
        visible[path] = _without(text, hidden_spans, path).encode() if hidden_spans else files[path]
    return SplitTests(visible, count)


def _functions(path: str, content: bytes) -> tuple[str, list[Span]]:
    """The text, and where its test functions are; none if they are not found."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return "", []
    extension = path.rpartition(".")[2].lower()
    if extension == "py":
        return text, list(_python_functions(text))
    return text, brace_case_spans(text, extension) or []


def _python_functions(text: str) -> Iterator[Span]:
    """Where `test...` functions of a module and of its classes are, from their first decorator on."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    if len(starts) - 1 != text.count("\n") + (not text.endswith("\n")):  # other ends of lines than Python counts
        return
    for node in _statements(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield starts[first - 1], starts[node.end_lineno or node.lineno]


def _statements(module: ast.Module) -> Iterator[ast.stmt]:
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            yield from node.body
        else:
            yield node


def _without(text: str, spans: list[Span], path: str) -> str:
    """The text without these functions. A class of Python that would be empty gets a `pass`."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        removed = text[start:end]
        indent = removed[: len(removed) - len(removed.lstrip(" \t"))]
        parts += (text[position:start], f"{indent}pass\n" if indent and path.endswith(".py") else "")
        position = end
    return "".join((*parts, text[position:]))
