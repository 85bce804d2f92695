"""The tests of a Python file, for pytest and unittest."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samuel.evidence.softening.outline import CaseOutline, CaseState, FileOutline

_SKIPS = ("skip", "xfail", "expectedFailure", "skipTest", "SkipTest", "Skip")
_CONDITIONAL_SKIPS = ("skipif", "skipIf", "skipUnless", "importorskip")
_ASSERTING = ("raises", "warns", "deprecated_call", "fail", "expect", "verify", "approvals_verify")
_TOLERANCES = ("delta", "rel", "abs", "rel_tol", "abs_tol", "rtol", "atol", "tol", "tolerance", "eps", "epsilon")
_DIGITS = ("places", "decimal", "ndigits")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_QUIET = ("AssertionError", "Exception", "BaseException")


def python_cases(text: str) -> FileOutline | None:
    """The tests by name, with their classes in front; None if the text does not parse."""
    try:
        module = ast.parse(text)
        state = _state_of_module(module)
        return dict(_cases(module, "", state))
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


def _cases(scope: ast.Module | ast.ClassDef, prefix: str, state: CaseState) -> Iterator[tuple[str, CaseOutline]]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef) and ("Test" in node.name or node.bases):
            hidden = any(
                isinstance(child, ast.Assign) and ast.unparse(child) == "__test__ = False" for child in node.body
            )
            inner: CaseState = "skipped" if hidden else _worse(state, _decorated(node))
            yield from _cases(node, f"{prefix}{node.name}.", inner)
        elif isinstance(node, _Function) and node.name.startswith("test"):
            yield f"{prefix}{node.name}", _outline(node, _worse(state, _decorated(node)))


def _decorated(node: _Function | ast.ClassDef) -> CaseState:
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
    name = _name(node.func if isinstance(node, ast.Call) else node)
    if name in _SKIPS:
        # `xfail(condition, ...)` of pytest has the condition first.
        return "conditional" if name == "xfail" and isinstance(node, ast.Call) and node.args else "skipped"
    if name in _CONDITIONAL_SKIPS:
        condition = node.args[0] if isinstance(node, ast.Call) and node.args else None
        if isinstance(condition, ast.Constant) and not isinstance(condition.value, str):
            return "skipped" if bool(condition.value) is (name != "skipUnless") else "runs"
        return "conditional"
    return "runs"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _outline(function: _Function, state: CaseState) -> CaseOutline:
    statements = list(_reached(function.body))
    if state == "runs":
        state = _state_of_body(statements)
    nodes = [node for statement in statements for node in _walk(statement)]
    tautologies = sum(map(_is_tautology, nodes))
    return CaseOutline(
        state,
        sum(map(_asserts, nodes)) - tautologies,
        tautologies,
        max((value for node in nodes for value in _tolerances(node)), default=0.0),
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


def _walk(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, without what cannot run or fail: `if False:`, and what `except` swallows."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case ast.If(test=ast.Constant(value=value), body=body, orelse=otherwise):
                waiting += body if value else otherwise
            case ast.Try(handlers=handlers, orelse=orelse, finalbody=final) if any(map(_swallows, handlers)):
                waiting += [*orelse, *final]
            case _:
                waiting += ast.iter_child_nodes(node)


def _swallows(handler: ast.ExceptHandler) -> bool:
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type] if handler.type else []
    catches = not names or any(_name(name) in _QUIET for name in names)
    return catches and all(isinstance(statement, ast.Pass) or _is_text(statement) for statement in handler.body)


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = _name(node.func)
        return name.lower().startswith("assert") or name in _ASSERTING
    return isinstance(node, ast.Assert)


def _is_tautology(node: ast.AST) -> bool:
    match node:
        case ast.Assert(test=test):
            return _is_always_true(test)
        case ast.Call(func=ast.Attribute(attr="assertTrue"), args=[test, *_]):
            return _is_always_true(test)
        case ast.Call(func=ast.Attribute(attr="assertFalse"), args=[ast.Constant(value=value), *_]):
            return not value
        case ast.Call(func=ast.Attribute(attr="assertEqual" | "assertIs"), args=[left, right, *_]):
            return ast.dump(left) == ast.dump(right)
    return False


def _is_always_true(test: ast.expr) -> bool:
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elements):  # `assert (a == b, "text")`
            return bool(elements)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(_is_always_true, values))
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is() | ast.LtE() | ast.GtE()], comparators=[right]):
            return ast.dump(left) == ast.dump(right)
    return False


def _tolerances(node: ast.AST) -> Iterator[float]:
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            for keyword in keywords:
                if keyword.arg in _TOLERANCES:
                    yield from _number(keyword.value)
                elif keyword.arg in _DIGITS:
                    yield from (_of_digits(value) for value in _number(keyword.value))
            if _name(function) == "assertAlmostEqual" and len(arguments) > 2:
                yield from (_of_digits(value) for value in _number(arguments[2]))
        case ast.Compare(left=ast.Call(func=ast.Name(id="abs")), ops=[ast.Lt() | ast.LtE()], comparators=[limit]):
            yield from _number(limit)


def _of_digits(digits: float) -> float:
    return float(10.0 ** -max(min(digits, 300.0), -300.0))


def _number(node: ast.expr) -> Iterator[float]:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and abs(node.value) < 1e300:
        yield float(node.value)


def _rows(node: ast.AST) -> int:
    match node:
        case ast.Call(func=function, args=[_, ast.List(elts=rows) | ast.Tuple(elts=rows), *_]):
            return len(rows) if _name(function) in ("parametrize", "expand") else 0
        case ast.For(iter=ast.List(elts=rows) | ast.Tuple(elts=rows)):
            return len(rows)
    return 0
