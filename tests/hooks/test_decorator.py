from __future__ import annotations

import pytest

import samuel
from samuel.hooks.decorator import Declaration, declarations


def test_the_hook_decorator_returns_the_function_unchanged() -> None:
    @samuel.hook("context.extra", order=5)
    def function(event: object) -> dict[str, int]:
        return {"x": 1}

    assert function(None) == {"x": 1}
    assert function.__name__ == "function"


def test_declarations_lists_decorated_functions_in_the_order_of_definition() -> None:
    @samuel.hook("before_loop", "TurnEnd", order=5, strict=True, timeout="3s", role="guard")
    def first(event: object) -> None: ...

    @samuel.hook("context.extra")
    @samuel.hook("context.task")
    def second(event: object) -> None: ...

    declared = declarations([("x", 1), ("two", second), ("plain", print), ("one", first)])
    assert [(name, declared.event) for name, _, declared in declared] == [
        ("two", "context.task"),
        ("two", "context.extra"),
        ("one", "before_loop"),
        ("one", "TurnEnd"),
    ]
    assert declared[-1][2] == Declaration("TurnEnd", 5, True, "3s", "guard")


@pytest.mark.parametrize("wrong", [(), (print,), ("context.extra", 5)])
def test_the_hook_decorator_requires_names_of_events(wrong: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="name at least one event"):
        samuel.hook(*wrong)  # type: ignore[arg-type]
