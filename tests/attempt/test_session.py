"""The events around one agent process."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from samuel.attempt.turn.session import session
from samuel.dispatch.record import Fired
from samuel.events import Event


@pytest.mark.parametrize(("agent", "extra"), [("claude", {"client": "claude"}), ("scripted", UNSET), ("", UNSET)])
def test_events_of_an_agent_with_hooks_of_its_own_name_it(agent: str, extra: object) -> None:
    events: list[Event] = []

    def fire(event: Event) -> Fired:
        events.append(event)
        return Fired(event=event, ok=True, stopped=False, result={}, calls=(), warnings=(), reason="")

    session(
        "go",
        fire=fire,
        notify=fire,
        invoke=lambda prompt: {"stdout": prompt},
        changed=list,
        suggest=lambda results: "",
        agent=agent,
    )
    names = ["SessionStart", "UserPromptSubmit", "TurnEnd", "SessionStop", "SessionEnd"]
    assert [type(event).__name__ for event in events] == names
    assert [event.extra for event in events] == [extra] * 5
