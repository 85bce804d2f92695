"""UserPromptSubmit: words that mean something known become a `new_intent` for knowledge routing."""

from __future__ import annotations

from typing import Any

from samuel.events import UserPromptSubmit
from samuel.shipped.event_fields import besides, given, told
from samuel.shipped.knowledge_trigger.rules import Intents, first_fitting

LONGEST = 2_000  # characters of the message that go along
COMMAND = "cli_command"  # what the person ran last, if the caller says so


def hook(event: UserPromptSubmit) -> dict[str, Any]:
    command = besides(event, COMMAND)
    said = {"user_raw_input": event.user_message}
    if isinstance(command, str) and command.strip():
        said[COMMAND] = command
    found = first_fitting(told(event, Intents), "\n".join(said.values()))
    if found is None:
        return {}
    where = {"scope": found.scope, "topic": found.topic, "stage": found.stage or given(event.stage)}
    return {
        "new_intent": {
            **{key: value for key, value in where.items() if value},
            "intent": found.intent,
            "signals": {key: value[:LONGEST] for key, value in said.items()},
        }
    }
