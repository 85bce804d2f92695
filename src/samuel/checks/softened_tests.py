"""Tests that a change has emptied, skipped or removed, by comparing the text of a test file before and after."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

MAX_CHARACTERS = 1 << 20
_SKIPS = ("skip", "skipIf", "skipUnless", "skipif", "xfail", "expectedFailure")
_JS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_JS_TEST = re.compile(
    r"""(?<![\w.$])(?P<name>x?(?:it|test|describe|context|specify)|f(?:it|describe)|suite)
    (?:\.(?P<mode>skip|only|todo|fails|skipIf))?
    \s*\(\s*(?P<quote>["'`])(?P<title>(?:\\.|(?!(?P=quote))[^\\\n]){0,300})(?P=quote)
    (?P<empty>\s*,\s*(?:async\s*)?(?:function\s*\([^()]*\)\s*\{\s*\}|\([^()]*\)\s*=>\s*\{\s*\})\s*\))?""",
    re.VERBOSE,
)

_State = str  # "runs", or what is wrong with it: "emptied", "skipped"


def softened_tests(old_text: str, new_text: str, path: str) -> list[str]:
    """The tests of a file that ran before and are now removed, skipped or empty, one line for each."""
    if max(len(old_text), len(new_text)) > MAX_CHARACTERS:
        return []
    if path.endswith(".py"):
        read = _python_tests
    elif path.endswith(_JS):
        read = _js_tests
    else:
        return []
    before, after = read(old_text), read(new_text)
    if before is None or after is None:  # not to be understood; if it is broken, the check says so
        return []
    ran = [name for name, state in before.items() if state == "runs"]
    lines = [f"{path}: {name} {after.get(name, 'removed')}" for name in ran if after.get(name) != "runs"]
    if path.endswith(_JS):
        lines += [f"{path}: {title} is the only test left to run" for title in _only(new_text) - _only(old_text)]
    return lines


# Python


def _python_tests(text: str) -> dict[str, _State] | None:
    try:
        module = ast.parse(text) if text else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    skipped = any(
        isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)
        and _is_skip(node.value)
        for node in module.body
    )
    return dict(_functions(module, "", skipped))


def _functions(scope: ast.Module | ast.ClassDef, prefix: str, skipped: bool) -> Iterator[tuple[str, _State]]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.", skipped or _has_skip(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            state = "skipped" if skipped or _has_skip(node) else "emptied" if _is_trivial(node) else "runs"
            yield f"{prefix}{node.name}", state


def _has_skip(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(map(_is_skip, node.decorator_list))


def _is_skip(node: ast.expr) -> bool:
    """`pytest.mark.skip(...)`, `unittest.skip`, or a list with one of them."""
    if isinstance(node, ast.List | ast.Tuple):
        return any(map(_is_skip, node.elts))
    name = node.func if isinstance(node, ast.Call) else node
    return (
        isinstance(name, ast.Attribute | ast.Name)
        and (name.attr if isinstance(name, ast.Attribute) else name.id) in _SKIPS
    )


def _is_trivial(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it can only pass: nothing in it but `pass`, a text, `return` and `assert True`, or a skip first."""
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call) and _is_skip(first.value):
        return True
    for statement in function.body:
        match statement:
            case ast.Return():
                return True  # nothing behind it runs
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Assert(test=ast.Constant(value=value)) if value:
                continue
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(attr="assertTrue"), args=[ast.Constant(value=True), *_])
            ):
                continue
            case _:
                return False
    return True


# JavaScript and TypeScript


def _js_tests(text: str) -> dict[str, _State] | None:
    """By the title; a second test with the same title gets a number."""
    tests: dict[str, _State] = {}
    count: Counter[str] = Counter()
    for match in _JS_TEST.finditer(text):
        title = match["title"]
        count[title] += 1
        name = title if count[title] == 1 else f"{title} ({count[title]})"
        skipped = match["name"].startswith("x") or match["mode"] in ("skip", "todo", "skipIf", "fails")
        tests[name] = "skipped" if skipped else "emptied" if match["empty"] else "runs"
    return tests


def _only(text: str) -> set[str]:
    return {
        match["title"]
        for match in _JS_TEST.finditer(text)
        if match["mode"] == "only" or match["name"] in ("fit", "fdescribe")
    }
