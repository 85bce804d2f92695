"""Functions in this process. They cannot be killed, so they are no part of the contract of those that can."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from samuel.events import ContextExtra
from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.runtimes.base import Reply
from samuel.runtimes.inline import InlineRuntime


def call(function: Callable[..., Any]) -> Reply:
    handler = Handler(name="f", event="context.extra", origin=Origin.EMBEDDER, runtime="inline", function=function)
    return InlineRuntime().call(handler, ContextExtra(task={}), 1.0)


def raises(error: BaseException) -> Callable[..., Any]:
    def function(event: object) -> None:
        raise error

    return function


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"x": value}
    return value


def test_it_answers() -> None:
    reply = call(lambda event: {"extras": [], "unknown": 2**70})
    assert (reply.outcome, reply.result) == (Outcome.OK, {"extras": [], "unknown": 2**70})
    reply = call(lambda event: None)
    assert (reply.outcome, reply.result) == (Outcome.OK, {})


@pytest.mark.parametrize(
    "error", [RuntimeError("why"), SystemExit(3), RecursionError("deep"), GeneratorExit(), MemoryError()]
)
def test_whatever_it_raises_is_a_crash(error: BaseException) -> None:
    reply = call(raises(error))
    assert reply.outcome is Outcome.CRASHED
    assert reply.message.startswith(type(error).__name__)
    assert "raise error" in reply.stderr


def test_ctrl_c_is_for_whoever_fired_the_event() -> None:
    with pytest.raises(KeyboardInterrupt):
        call(raises(KeyboardInterrupt()))


@pytest.mark.parametrize(
    "value",
    [
        [1],
        "text",
        1,
        True,
        {"x": object()},
        {"x": float("nan")},
        {"x": [{"y": (float("inf"),)}]},
        {"x": "\ud800"},
        {object(): 1},
        nested(sys.getrecursionlimit() * 10),
    ],
    ids=["list", "str", "int", "bool", "object", "nan", "deep inf", "surrogate", "key", "deep"],
)
def test_what_is_no_plain_json_object_is_bad_output(value: Any) -> None:
    reply = call(lambda event: value)
    assert reply.outcome is Outcome.BAD_OUTPUT, reply
    assert reply.message
    assert reply.result == {}
