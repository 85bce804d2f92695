"""The shape of error messages: they begin in lower case, and a message of one sentence has no full stop."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "samuel"
WRONG_SHAPE = re.compile(r"[A-Z][a-z]|(?!.*[.:] ).*[^.]\.$", re.DOTALL)


@functools.cache
def syntax_trees() -> dict[str, ast.Module]:
    """The syntax tree of each file of the package. Not at import: every worker imports this file."""
    files = PACKAGE.rglob("*.py")
    return {str(file.relative_to(PACKAGE)): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def error_classes() -> set[str]:
    """The names of the exceptions of Python, click and Samuel, and `Problem`, of which a ConfigError is made."""
    names = {"Problem"}
    for module in (builtins, click):
        kinds = ((name, kind) for name, kind in vars(module).items() if isinstance(kind, type))
        names |= {name for name, kind in kinds if issubclass(kind, Exception)}
    trees = syntax_trees().values()
    own_classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    before = 0
    while before != len(names):
        before = len(names)
        names |= {node.name for node in own_classes if {last_name(base) for base in node.bases} & names}
    return names


def last_name(node: ast.expr) -> str:
    """`UsageError` of `UsageError` and of `click.UsageError`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def literal_text(node: ast.expr) -> str:
    """The text of a string with `{}` for each value in it; empty for what is not a string."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(literal_text(part) or "{}" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (literal_text(left) or "{}") + (literal_text(right) or "{}")
    return ""


def messages(tree: ast.AST, errors: set[str]) -> Iterator[tuple[int, str]]:
    """The line and the text of each message and hint that an error is made with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) in errors:
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            choices = [
                choice
                for argument in arguments
                for choice in (
                    (argument.body, argument.orelse) if isinstance(argument, ast.IfExp) else (argument,)
                )
            ]
            yield from ((choice.lineno, literal_text(choice)) for choice in choices if " " in literal_text(choice))


def test_every_error_message_begins_in_lower_case_and_has_no_full_stop() -> None:
    errors = error_classes()
    trees = syntax_trees().items()
    texts = [(f"{name}:{line}", text) for name, tree in trees for line, text in messages(tree, errors)]
    assert len(texts) > 200
    assert [(place, text) for place, text in texts if WRONG_SHAPE.match(text)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        'raise UsageError("The agent `x` has no `command`")',
        'raise UsageError(f"the agent `{name}` has no `command`.")',
        'raise click.UsageError("there is no agent `x`", "There are: a, b")',
        'yield Problem("wrong", hint="Write it in the other way" if other else "leave it out")',
    ],
)
def test_a_message_with_a_capital_or_a_full_stop_is_recognised(statement: str) -> None:
    texts = [text for _, text in messages(ast.parse(statement), error_classes())]
    assert any(WRONG_SHAPE.match(text) for text in texts)
