"""What handlers tell the user and suggest to the agent, as text for a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.base.printable import shell_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

HEADING = "Hints of this project's hooks. Use what helps, and ignore the rest."


def messages(result: Mapping[str, Any]) -> str:
    """The messages to the user, a line each."""
    return "\n".join(_texts(result, "messages_to_user"))


def follow_ups(result: Mapping[str, Any]) -> str:
    """The messages that keep the session going."""
    return "\n\n".join(_texts(result, "follow_up_messages"))


def suggestions(result: Mapping[str, Any]) -> str:
    """The abilities, the documents and the intent that handlers suggest; "" if they suggest nothing."""
    lines = [*_abilities(result), *_documents(result), *_intent(result)]
    return "\n".join([HEADING, *lines]) if lines else ""


def _abilities(result: Mapping[str, Any]) -> Iterator[str]:
    for suggestion in _objects(result, "suggested_abilities"):
        if name := suggestion.get("id"):
            yield f"- `samuel ability call {shell_word(name)}`{_because(suggestion)}"


def _documents(result: Mapping[str, Any]) -> Iterator[str]:
    for suggestion in _objects(result, "suggested_documents"):
        if path := suggestion.get("path"):
            yield f"- read `{path}`{_because(suggestion)}"


def _intent(result: Mapping[str, Any]) -> Iterator[str]:
    intent = result.get("new_intent")
    if isinstance(intent, dict) and intent.get("intent"):
        yield f"- intent: {intent['intent']}"


def _because(suggestion: Mapping[str, Any]) -> str:
    return f": {reason}" if (reason := suggestion.get("reason")) else ""


def _texts(result: Mapping[str, Any], key: str) -> list[str]:
    values = result.get(key)
    return [str(value) for value in values if value] if isinstance(values, list) else []


def _objects(result: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    values = result.get(key)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
