"""The assertions of Python code, with what each demands and what is around it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from samuel.evidence.softening.assertions import Assertion, Demand

Function = ast.FunctionDef | ast.AsyncFunctionDef
Context = tuple[str, ...]

_ASSERTING = ("raises", "warns", "deprecated_call", "fail", "expect", "verify", "approvals_verify")
_TOLERANCES = ("delta", "rel", "abs", "rel_tol", "abs_tol", "rtol", "atol", "tol", "tolerance", "eps", "epsilon")
_DIGITS = ("places", "decimal", "ndigits")
_NEAR = {"approx": 1e-6, "isclose": 1e-9, "allclose": 1e-5, "assert_allclose": 1e-7, "assertAlmostEqual": 1e-7}
_PARTIAL = (
    "len",
    "type",
    "bool",
    "isinstance",
    "issubclass",
    "hasattr",
    "startswith",
    "endswith",
    "match",
    "search",
)
_LOOSE_CALLS = (*_PARTIAL, "fullmatch", "all", "any", "assert_called_once", "assert_not_called")
_SELDOM_FAILS = ("assertIsNotNone", "assertTrue", "assert_called", "assert_", "assertLogs")
_QUIET = ("AssertionError", "Exception", "BaseException")
# A function of this name that is called for nothing but its effect fails if something is wrong.
_CHECKING = re.compile(r"_?(?:check|verify|expect|ensure|compare|validate|same|assert)(?:_|[A-Z]|$)\w*")

_SWALLOWED = "a block that catches the failure"
_NOT_CALLED = "a function that is not called"
_UNREACHED = (_SWALLOWED, _NOT_CALLED)
_REPLACES = re.compile(r"\b(?:setattr|patch)\b")
_LEAVES = (ast.Return, ast.Continue, ast.Break)
_EXITS = ("exit", "_exit", "quit")


def assertions_of(function: Function, helpers: Collection[str]) -> list[Assertion]:
    """Those of a function; `helpers` are functions of the same file that assert something."""
    nodes = list(_own_nodes(function.body))
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    replaced = tuple(
        f"@{ast.unparse(item)}" for item in function.decorator_list if _REPLACES.search(ast.unparse(item))
    )
    if function.name.startswith("test") and any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes):
        return []  # calling a generator runs nothing of it
    return list(_Reader(helpers, used).block(function.body, replaced))


def assertions_at_top(module: ast.Module) -> list[Assertion]:
    """Those of the module itself."""
    statements = [node for node in module.body if not isinstance(node, Function | ast.ClassDef)]
    return list(_Reader((), ()).block(statements, ()))


class _Reader:
    def __init__(self, helpers: Collection[str], used: Collection[str]) -> None:
        self._helpers = helpers
        self._used = used

    def block(self, statements: Sequence[ast.stmt], context: Context) -> Iterator[Assertion]:
        """The assertions of these statements, up to one behind which nothing runs."""
        for statement in statements:
            yield from self._statement(statement, context)
            if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
                return
            if mark := _disturbance(statement):
                context = (*context, mark)

    def _statement(self, statement: ast.stmt, context: Context) -> Iterator[Assertion]:
        match statement:
            case ast.Assert(test=test):
                yield from self._asserted(test, context)
            case ast.If(test=ast.Constant(value=value), body=body, orelse=otherwise):
                yield from self.block(body if value else otherwise, context)
            case ast.If(test=test, body=body, orelse=otherwise):
                yield from self.block(body, (*context, f"if {ast.unparse(test)}"))
                yield from self.block(otherwise, (*context, f"if not {ast.unparse(test)}"))
            case ast.While(test=test, body=body, orelse=otherwise):
                yield from self.block([*body, *otherwise], (*context, f"while {ast.unparse(test)}"))
            case ast.For(iter=ast.List(elts=[]) | ast.Tuple(elts=[])):
                return
            case ast.For(body=body, orelse=otherwise) | ast.AsyncFor(body=body, orelse=otherwise):
                yield from self.block([*body, *otherwise], (*context, "for"))
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                inner = context
                for item in items:
                    yield from self._calls(item.context_expr, context)
                    inner = (*inner, *_around(item.context_expr))
                yield from self.block(body, inner)
            case ast.Try() | ast.TryStar():
                yield from self._try(statement, context)
            case ast.Match(cases=cases):
                for case in cases:
                    yield from self.block(case.body, (*context, f"if {ast.unparse(case.pattern)}"))
            case ast.FunctionDef(name=name, body=body) | ast.AsyncFunctionDef(name=name, body=body):
                yield from self.block(body, context if name in self._used else (*context, _NOT_CALLED))
            case ast.ClassDef(body=body):
                yield from self.block(body, context)
            case _:
                yield from self._calls(statement, context)

    def _try(self, statement: ast.Try | ast.TryStar, context: Context) -> Iterator[Assertion]:
        inner = (*context, _SWALLOWED) if any(map(_swallows, statement.handlers)) else context
        yield from self.block(statement.body, inner)
        for handler in statement.handlers:
            yield from self.block(handler.body, (*context, "if it raises"))
        yield from self.block([*statement.orelse, *statement.finalbody], context)

    def _asserted(self, test: ast.expr, context: Context) -> Iterator[Assertion]:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                yield from self._asserted(part, context)
            return
        demand, tolerance = _demand(test)
        yield _capped(Assertion(f"assert {ast.unparse(test)}", demand, tolerance, context))

    def _calls(self, statement: ast.AST, context: Context) -> Iterator[Assertion]:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call):
                continue
            name = name_of(node.func)
            is_alone = isinstance(statement, ast.Expr) and node is statement.value
            if name in self._helpers or (is_alone and _CHECKING.fullmatch(name)) or is_asserting(name):
                demand, tolerance = _demand_of_call(node, name)
                yield _capped(Assertion(ast.unparse(node), demand, tolerance, context))


def is_asserting(name: str) -> bool:
    return name.lower().startswith("assert") or name in _ASSERTING


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _own_nodes(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside of it, but with the names that these use."""
    waiting: list[ast.AST] = [*statements]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Function | ast.Lambda):
            yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.Name))
        else:
            waiting += ast.iter_child_nodes(node)


def _disturbance(statement: ast.stmt) -> str:
    """What in this statement may keep those behind it from running, or from seeing the source; "" if nothing."""
    if isinstance(statement, Function | ast.ClassDef):
        return ""
    inside = list(_own_nodes([statement]))
    is_left = not isinstance(statement, ast.For | ast.While) and any(isinstance(node, _LEAVES) for node in inside)
    calls = [node for node in inside if isinstance(node, ast.Call)]
    exits = any(name_of(call.func) in _EXITS for call in calls)
    replaces = any(_REPLACES.search(ast.unparse(call.func)) for call in calls)
    if is_left or exits or (replaces and not isinstance(statement, ast.With | ast.AsyncWith)):
        return f"after {ast.unparse(statement)}"
    return ""


def _around(item: ast.expr) -> Context:
    """What a `with` does to the assertions inside of it."""
    name = name_of(item.func) if isinstance(item, ast.Call) else name_of(item)
    if name in ("suppress", "raises", "assertRaises"):
        return (_SWALLOWED,)
    text = ast.unparse(item)
    return (f"after {text}",) if _REPLACES.search(text) else ()


def _swallows(handler: ast.ExceptHandler) -> bool:
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type] if handler.type else []
    catches = not names or any(name_of(name) in _QUIET for name in names)
    idle = all(
        isinstance(statement, ast.Pass | ast.Continue | ast.Return)
        or (isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Yield))
        for statement in handler.body
    )
    fails = any(
        isinstance(node, ast.Call) and is_asserting(name_of(node.func))
        for child in handler.body
        for node in ast.walk(child)
    )
    return catches and idle and not fails


def _capped(assertion: Assertion) -> Assertion:
    if any(around in _UNREACHED for around in assertion.context):
        return assertion._replace(demand=Demand.NOTHING)
    if any(around != "for" for around in assertion.context):
        return assertion._replace(demand=min(assertion.demand, Demand.SOME))
    return assertion


def _demand(test: ast.expr) -> tuple[Demand, float]:
    """What `assert test` demands, and with which tolerance."""
    if is_always_true(test) or not any(isinstance(node, ast.Name | ast.Call) for node in ast.walk(test)):
        return Demand.NOTHING, 0.0
    match test:
        case ast.Compare(left=left, ops=operators, comparators=others):
            return _compared([left, *others], operators)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return (Demand.SOME if isinstance(operand, ast.Compare) else Demand.RANGE), 0.0
        case ast.BoolOp(values=values):
            return min(Demand.RANGE, *(_demand(value)[0] for value in values)), 0.0
        case ast.Call(func=function):
            return _demand_of_call(test, name_of(function), is_tested=True)
    return Demand.SOME, 0.0


def _compared(sides: Sequence[ast.expr], operators: Sequence[ast.cmpop]) -> tuple[Demand, float]:
    calls = [node for side in sides for node in ast.walk(side) if isinstance(node, ast.Call)]
    if any(isinstance(operator, ast.NotEq | ast.IsNot | ast.NotIn) for operator in operators):
        return Demand.SOME, 0.0
    if not all(isinstance(operator, ast.Eq | ast.Is) for operator in operators):
        limits = sides[1:] if isinstance(sides[0], ast.Call) and name_of(sides[0].func) == "abs" else []
        return Demand.RANGE, max((value for limit in limits for value in _number(limit)), default=0.0)
    for call in calls:
        name = name_of(call.func)
        if name in _NEAR:
            return Demand.RANGE, _tolerance(call, _NEAR[name])
        if name == "round":
            digits = [value for item in call.args[1:] for value in _number(item)]
            return Demand.RANGE, of_digits(digits[0] if digits else 0.0)
    outer = [name_of(side.func) for side in sides if isinstance(side, ast.Call)]
    if any(name in _PARTIAL for name in outer):
        return Demand.RANGE, 0.0
    for side in sides:
        if isinstance(side, ast.Constant) and side.value in (True, False) and isinstance(side.value, bool):
            return (Demand.SOME if side.value else Demand.RANGE), 0.0
    return Demand.EXACT, 0.0


def _demand_of_call(call: ast.Call, name: str, *, is_tested: bool = False) -> tuple[Demand, float]:
    if name in _NEAR:
        return Demand.RANGE, _tolerance(call, _NEAR[name])
    if name in ("assertTrue", "assertFalse", "assert_", "failUnless") and call.args:
        is_false = isinstance(call.args[0], ast.Constant) and not call.args[0].value
        if name == "assertFalse":
            return (Demand.NOTHING if is_false else Demand.RANGE), 0.0
        return _demand(call.args[0])
    if name in ("assertEqual", "assertEquals", "assertIs") and len(call.args) > 1:
        return _demand(ast.Compare(call.args[0], [ast.Eq()], [call.args[1]]))
    if name in ("raises", "assertRaises", "warns") and call.args and name_of(call.args[0]) in _QUIET:
        return Demand.SOME, 0.0
    if name in _LOOSE_CALLS:
        return Demand.RANGE, 0.0
    if name.startswith("assertNot") or name in _SELDOM_FAILS:
        return Demand.SOME, 0.0
    if re.fullmatch(r"assert(?:In|Is|Greater|Less|Regex|Matches|_in|_greater|_less)\w*", name):
        return (Demand.EXACT if name == "assertIsNone" else Demand.RANGE), 0.0
    if is_tested and not re.search(r"equals?\b", name):
        return Demand.SOME, 0.0
    return Demand.EXACT, 0.0


def is_always_true(test: ast.expr) -> bool:
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elements):  # `assert (a == b, "text")`
            return bool(elements)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(is_always_true, values))
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is() | ast.LtE() | ast.GtE()], comparators=[right]):
            return ast.dump(left) == ast.dump(right)
    return False


def _tolerance(call: ast.Call, default: float) -> float:
    values = [value for keyword in call.keywords if keyword.arg in _TOLERANCES for value in _number(keyword.value)]
    values += [
        of_digits(value) for keyword in call.keywords if keyword.arg in _DIGITS for value in _number(keyword.value)
    ]
    if name_of(call.func) == "assertAlmostEqual":
        values += [of_digits(value) for item in call.args[2:3] for value in _number(item)]
    return max(values, default=default)


def of_digits(digits: float) -> float:
    return float(10.0 ** -max(min(digits, 300.0), -300.0))


def _number(node: ast.expr) -> Iterator[float]:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and abs(node.value) < 1e300:
        yield float(node.value)
