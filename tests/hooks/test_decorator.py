from __future__ import annotations

import pytest

import samuel
from samuel.hooks.decorator import Declaration, declarations


def test_it_leaves_the_function_as_it_is() -> None:
    @samuel.hook("context.extra", order=5)
    def function(event: object) -> dict[str, int]:
        return {"x": 1}

    assert function(None) == {"x": 1}
    assert function.__name__ == "function"


def test_what_was_said_is_found_in_the_order_it_was_defined() -> None:
    @samuel.hook("before_loop", "TurnEnd", order=5, strict=True, timeout="3s", role="guard")
    def one(event: object) -> None: ...

    @samuel.hook("context.extra")
    @samuel.hook("context.task")
    def two(event: object) -> None: ...

    found = declarations([("x", 1), ("two", two), ("plain", print), ("one", one)])
    assert [(name, declared.event) for name, _, declared in found] == [
        ("two", "context.task"),
        ("two", "context.extra"),
        ("one", "before_loop"),
        ("one", "TurnEnd"),
    ]
    assert found[-1][2] == Declaration("TurnEnd", 5, True, "3s", "guard")


@pytest.mark.parametrize("wrong", [(), (print,), ("context.extra", 5)])
def test_an_event_must_be_named(wrong: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="which event"):
        samuel.hook(*wrong)  # type: ignore[arg-type]
