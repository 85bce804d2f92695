"""UserPromptSubmit: phrases that stand for a known intent become a `new_intent` for knowledge routing."""

from __future__ import annotations

from typing import Any

from samuel.events import UserPromptSubmit
from samuel.shipped.event_fields import config_of, extra_field, text_or_empty
from samuel.shipped.knowledge_trigger.rules import Intents, first_match

MAX_SIGNAL = 2_000  # characters of each text that are passed on
COMMAND = "cli_command"  # what the user ran last, if the caller sends it


def hook(event: UserPromptSubmit) -> dict[str, Any]:
    command = extra_field(event, COMMAND)
    signals = {"user_raw_input": event.user_message}
    if isinstance(command, str) and command.strip():
        signals[COMMAND] = command
    trigger = first_match(config_of(event, Intents), "\n".join(signals.values()))
    if trigger is None:
        return {}
    stage = trigger.stage or text_or_empty(event.stage)
    where = {"scope": trigger.scope, "topic": trigger.topic, "stage": stage}
    return {
        "new_intent": {
            **{key: value for key, value in where.items() if value},
            "intent": trigger.intent,
            "signals": {key: value[:MAX_SIGNAL] for key, value in signals.items()},
        }
    }
