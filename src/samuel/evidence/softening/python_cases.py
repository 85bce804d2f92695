"""The tests of a Python file, for pytest and unittest."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from samuel.evidence.softening.assertions import Assertion, Demand
from samuel.evidence.softening.outline import CaseOutline, CaseState, FileOutline
from samuel.evidence.softening.python_assertions import (
    Function,
    assertions_at_top,
    assertions_of,
    name_of,
)

_SKIPS = ("skip", "xfail", "expectedFailure", "skipTest", "SkipTest", "Skip")
_CONDITIONAL_SKIPS = ("skipif", "skipIf", "skipUnless", "importorskip")
_TOLERANCE = re.compile(r"(?:.*_)?(?:tol(?:erance)?|eps(?:ilon)?|delta|rtol|atol)", re.IGNORECASE)


def python_cases(text: str) -> FileOutline | None:
    """The tests by name, with their classes in front; None if the text does not parse."""
    try:
        module = ast.parse(text)
        helpers = dict(_helpers(module, ""))
        names = {name.rpartition(".")[2] for name, case in helpers.items() if case.assertions}
        return {**helpers, **dict(_tables(module)), **dict(_cases(module, "", _state_of_module(module), names))}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _state_of_module(module: ast.Module) -> CaseState:
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                if (state := _skip_state(value)) != "runs":
                    return state
            case ast.Assign(targets=[ast.Name(id="__test__")], value=ast.Constant(value=False)):
                return "skipped"
            case ast.Expr(value=ast.Call() as call) if _skip_state(call) != "runs":
                return _skip_state(call)
    return "runs"


def _helpers(scope: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, CaseOutline]]:
    """The functions that are no tests, and the module itself."""
    if isinstance(scope, ast.Module):
        yield "the module", CaseOutline(assertions=tuple(assertions_at_top(scope)), is_helper=True)
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            yield from _helpers(node, f"{prefix}{node.name}.")
        elif isinstance(node, Function) and not node.name.startswith("test"):
            yield f"{prefix}{node.name}", CaseOutline(assertions=tuple(assertions_of(node, ())), is_helper=True)


def _tables(module: ast.Module) -> Iterator[tuple[str, CaseOutline]]:
    """The tables and tolerances that tests may use, by the names they are assigned to."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=rows) | ast.Tuple(elts=rows)):
                yield name, CaseOutline(rows=len({ast.dump(row) for row in rows}), is_helper=True)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys)):
                yield name, CaseOutline(rows=len(keys), is_helper=True)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=float(value) | int(value))):
                if _TOLERANCE.fullmatch(name):
                    limit = Assertion(f"{name} = {value}", Demand.RANGE, float(value))
                    yield name, CaseOutline(assertions=(limit,), is_helper=True)


def _cases(
    scope: ast.Module | ast.ClassDef, prefix: str, state: CaseState, helpers: Collection[str]
) -> Iterator[tuple[str, CaseOutline]]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef) and ("Test" in node.name or node.bases):
            hidden = any(
                isinstance(child, ast.Assign) and ast.unparse(child) == "__test__ = False" for child in node.body
            )
            inner: CaseState = "skipped" if hidden else _worse(state, _decorated(node))
            yield from _cases(node, f"{prefix}{node.name}.", inner, helpers)
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield f"{prefix}{node.name}", _outline(node, _worse(state, _decorated(node)), helpers)


def _decorated(node: Function | ast.ClassDef) -> CaseState:
    state: CaseState = "runs"
    for decorator in node.decorator_list:
        state = _worse(state, _skip_state(decorator))
    return state


def _worse(one_state: CaseState, other: CaseState) -> CaseState:
    order: tuple[CaseState, ...] = ("runs", "conditional", "emptied", "skipped")
    return max(one_state, other, key=order.index)


def _skip_state(node: ast.expr) -> CaseState:
    """`pytest.mark.skip(...)`, `unittest.skipIf(...)`, or a list with one of them."""
    if isinstance(node, ast.List | ast.Tuple):
        states = [_skip_state(item) for item in node.elts]
        return "skipped" if "skipped" in states else "conditional" if "conditional" in states else "runs"
    name = name_of(node.func if isinstance(node, ast.Call) else node)
    if name == "parametrize" and isinstance(node, ast.Call) and _has_no_rows(node):
        return "skipped"
    if name in _SKIPS:
        # `xfail(condition, ...)` of pytest has the condition first.
        return "conditional" if name == "xfail" and isinstance(node, ast.Call) and node.args else "skipped"
    if name in _CONDITIONAL_SKIPS:
        condition = node.args[0] if isinstance(node, ast.Call) and node.args else None
        if isinstance(condition, ast.Constant) and not isinstance(condition.value, str):
            return "skipped" if bool(condition.value) is (name != "skipUnless") else "runs"
        return "conditional"
    return "runs"


def _has_no_rows(call: ast.Call) -> bool:
    values = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "argvalues")]
    return any(isinstance(value, ast.List | ast.Tuple) and not value.elts for value in values)


def _outline(function: Function, state: CaseState, helpers: Collection[str]) -> CaseOutline:
    statements = list(_reached(function.body))
    if state == "runs":
        state = _state_of_body(statements)
    nodes = (node for statement in statements for node in ast.walk(statement))
    return CaseOutline(
        state,
        tuple(assertions_of(function, helpers)),
        sum(_rows(node) for node in (*function.decorator_list, *nodes)),
        body="".join(ast.dump(statement) for statement in function.body if not _is_text(statement))[:20_000],
    )


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements before the first `return`: nothing behind it runs."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return
        yield statement


def _state_of_body(statements: list[ast.stmt]) -> CaseState:
    for statement in statements:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            call = statement.exc
        if call is not None and _skip_state(call) != "runs":
            return _skip_state(call)
        if isinstance(statement, ast.If) and any(
            isinstance(inner, ast.Expr | ast.Raise)
            and (value := inner.value if isinstance(inner, ast.Expr) else inner.exc) is not None
            and _skip_state(value) == "skipped"
            for inner in statement.body
        ):
            return "conditional"
    idle = all(isinstance(statement, ast.Pass) or _is_text(statement) for statement in statements)
    return "emptied" if idle else "runs"


def _rows(node: ast.AST) -> int:
    """The rows of a table, each once."""
    match node:
        case ast.Call(func=function, args=[_, ast.List(elts=rows) | ast.Tuple(elts=rows), *_]):
            return len({ast.dump(row) for row in rows}) if name_of(function) in ("parametrize", "expand") else 0
        case ast.For(iter=ast.List(elts=rows) | ast.Tuple(elts=rows)):
            return len({ast.dump(row) for row in rows})
    return 0


def shadowed_names(old: str, new: str) -> list[str]:
    """Names that the tests imported or inherited and used before, and that they define themselves now."""
    try:
        before, after = _Names(ast.parse(old)), _Names(ast.parse(new))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    others = (before.imported & before.used) | before.methods
    return sorted(others & (after.defined - before.defined))


class _Names:
    """The names of a module, by what is done with them."""

    def __init__(self, module: ast.Module) -> None:
        self.imported: set[str] = set()
        self.used: set[str] = set()
        self.methods: set[str] = set()
        """What is called on `self`."""
        self.defined: set[str] = set()
        for node in ast.walk(module):
            self._add(node)

    def _add(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                self.imported |= {(alias.asname or alias.name).partition(".")[0] for alias in names}
            case ast.Name(id=name, ctx=ast.Load()):
                self.used.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                self.methods.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.defined.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                self.defined.add(name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=ast.Store()):
                self.defined |= {owner, name}
