"""A failing test for pytest and unittest, in the idiom of a test file."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from samuel.evidence.plant.planted import marker_parts, numbered

_UNITTEST_CALLS = {
    "assertEqual": "self.assertEqual({value}, '')",
    "assertTrue": "self.assertTrue({value} == '', {value})",
    "assertIn": "self.assertIn({value}, [''])",
    "assertIs": "self.assertIs({value}, None)",
    "assertFalse": "self.assertFalse({value})",
}
_SKIP_NAMES = frozenset(("skip", "skipif", "skipIf", "skipUnless", "xfail", "importorskip", "expectedFailure"))


def parsed_python(text: str) -> ast.Module | None:
    """The syntax tree of a module; None if this is not Python, or cannot be parsed within Python's limits."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the project's own strings
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def with_python_test(text: str, token: str, only: int | None = None) -> str | None:
    """The test file with a failing test behind its own; None if that cannot be said how."""
    module = parsed_python(text)
    if module is None or _is_selective(module):
        return None
    planted = _test_code(module, token, only)
    if not planted:
        return None
    lines = text.split("\n")
    at = _end_of_tests(module)
    if at is None:
        return f"{text.rstrip()}\n\n\n{planted}"
    return "\n".join((*lines[:at], planted, "", *lines[at:]))


def separate_python_test(text: str, token: str, only: int | None = None) -> str | None:
    """A test file of its own that imports what the sibling imports: code that acts on import acts here too."""
    module = parsed_python(text)
    if module is None or _is_selective(module):
        return None
    planted = _test_code(module, token, only)
    imports = [ast.unparse(node) for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join((*imports, "", "", planted)) if planted else None


def skips(decorators: list[ast.expr]) -> bool:
    """Whether one of these decorators, or values of `pytestmark`, skips tests or expects them to fail."""
    names = (node for decorator in decorators for node in ast.walk(decorator))
    return any(
        (isinstance(node, ast.Attribute) and node.attr in _SKIP_NAMES)
        or (isinstance(node, ast.Name) and node.id in _SKIP_NAMES)
        for node in names
    )


def _is_selective(module: ast.Module) -> bool:
    """Whether the module as a whole is skipped, now and then or always."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value) if skips([value]):
                return True
            case ast.Expr(value=ast.Call(func=function)) if skips([function]):
                return True
    return False


def _test_code(module: ast.Module, token: str, only: int | None) -> str:
    base = _base_of_test_case(module)
    if base:
        called = {
            node.func.attr
            for node in ast.walk(module)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        names = [name for name in _UNITTEST_CALLS if name in called] or ["assertEqual"]
        statements = [_UNITTEST_CALLS[name] for name in names]
        if any(isinstance(node, ast.Assert) for node in ast.walk(module)):
            statements.append('assert {value} == ""')
        methods = [
            f"    def test_{token}_{number}(self):\n        {statement.format(value=_value(token, number))}"
            for number, statement in numbered(statements, only)
        ]
        return f"class Test{token.capitalize()}({base}):\n" + "\n\n".join(methods) + "\n"
    if any(name.startswith("test") for name in _function_names(module)):
        return f'def test_{token}():\n    assert {_value(token, 0)} == ""\n'
    return ""


def _value(token: str, number: int) -> str:
    first, second = marker_parts(token, number)
    return f'"-".join(("{first}", "{second}"))'


def _base_of_test_case(module: ast.Module) -> str:
    """The base of a class with `test...` methods and calls of `self.assert...`, as the module writes it."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.bases and not skips(node.decorator_list):
            base = ast.unparse(node.bases[0])
            has_tests = any(
                isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name.startswith("test")
                for method in node.body
            )
            if has_tests and base.rpartition(".")[2].endswith(("TestCase", "Test", "Tests", "Case")):
                return base
    return ""


def _function_names(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (child.name for child in node.body if isinstance(child, ast.FunctionDef))


def _end_of_tests(module: ast.Module) -> int | None:
    """The line (from 0) before which a test must be: a call of `unittest.main()`, or `if __name__ == ...`."""
    for node in module.body:
        is_main_block = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
        is_main_call = isinstance(node, ast.Expr) and ast.unparse(node).endswith(".main()")
        if is_main_block or is_main_call:
            return node.lineno - 1
    return None
