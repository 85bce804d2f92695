"""What is asked of the routing: a text, a hook's `new_intent`, and the documents that hooks suggest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from samuel.decoding import convert
from samuel.errors import UsageError
from samuel.events.session import Intent, SuggestedDocument
from samuel.printable import safe


def intent_of(said: Mapping[str, Any] | None) -> Intent:
    """A `new_intent`, alone or still inside the result of the hook that gave it; None wants nothing."""
    if said is None:
        return Intent("")
    inner = said["new_intent"] if isinstance(said, Mapping) and "new_intent" in said else said
    try:
        return convert(inner, Intent)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"This is no intent: {safe(str(error), keep='')}",
            "It needs `intent`, and may have `scope`, `topic`, `stage`, `signals`.",
        ) from None


def suggested_of(said: Iterable[Mapping[str, Any]]) -> list[SuggestedDocument]:
    try:
        return convert(list(said), list[SuggestedDocument])
    except msgspec.ValidationError as error:
        hint = "Each needs a `path`, and may have `reason` and `stage`."
        raise UsageError(f"These are no suggested documents: {safe(str(error), keep='')}", hint) from None


class KnowledgeQuestion(NamedTuple):
    text: str
    """All words that say what is wanted, each thing said once and in a line of its own."""
    command: str
    """What the person ran last."""

    def __bool__(self) -> bool:
        return bool(self.text or self.command)


def question_of(text: str, intent: Intent) -> KnowledgeQuestion:
    raw, command = (_signal(intent, name) for name in ("user_raw_input", "cli_command"))
    said = dict.fromkeys(part for part in (intent.intent, raw, text) if part.strip())
    return KnowledgeQuestion("\n".join(said), command)


def _signal(intent: Intent, name: str) -> str:
    said = (intent.signals or {}).get(name)
    return said if isinstance(said, str) and said.strip() else ""
