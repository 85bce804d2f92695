"""Whether the answers of a handler count, or are only recorded: a guard can be tried before it is enforced."""

from __future__ import annotations

from enum import StrEnum

from samuel.events import EventType
from samuel.events.compose import Arrange


class HandlerMode(StrEnum):
    """`enforce` is the default. What an observed handler returns is recorded, and nothing of it is used."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


def observation_refusal(event: EventType) -> str:
    """Why a handler of `event` cannot be observed; "" if it can."""
    if event.composition.arrange is Arrange.LAST_ONLY:
        return f"only one handler answers `{event.name}`, so its answer cannot be left unused"
    return ""


def declared_mode(value: object, event: EventType) -> HandlerMode:
    """The mode that a handler of `event` declares; ValueError completes a sentence: "`mode` " + str(error)."""
    from samuel.config import kinds  # what checks settings, when hooks are discovered

    mode = HandlerMode(kinds.one_of(*HandlerMode)(value))
    if mode is HandlerMode.OBSERVE and (why := observation_refusal(event)):
        raise ValueError(f"cannot be `observe`: {why}")
    return mode
