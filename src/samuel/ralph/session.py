"""Each agent process is a session: the same events in the same order, whoever the agent works for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from samuel.dispatch.record import Fired
from samuel.events import (
    AgentInvoke,
    Event,
    Sandbox,
    SessionEnd,
    SessionStart,
    SessionStop,
    TurnEnd,
    UserPromptSubmit,
)

Answer = Mapping[str, Any]


def session(
    prompt: str,
    *,
    fire: Callable[[Event], Fired],
    last_words: Callable[[Event], Fired],
    invoke: Callable[[], Answer],
    changed: Callable[[], Sequence[str]],
) -> Answer:
    """Run the agent by `invoke`, and tell everybody. `fire` raises when a handler says no; `last_words` never.

    `changed` gives the files that the agent changed.
    """
    fire(SessionStart())
    try:
        fire(UserPromptSubmit(user_message=prompt))
        answer = invoke()
        fire(TurnEnd(response=str(answer.get("stdout", "")), turn_number=1))
        fire(SessionStop(changed_files=list(changed())))
        return answer
    finally:
        last_words(SessionEnd())


def invocation_of(prepared: Mapping[str, Any]) -> AgentInvoke:
    """What before:agent.invoke ended with, as the call that follows from it."""
    return AgentInvoke(
        agent=prepared["agent"],
        prompt=prepared["prompt"],
        env=prepared["env"],
        sandbox=msgspec.convert(prepared["sandbox"], Sandbox),  # an answer may have keys that are not ours
    )
