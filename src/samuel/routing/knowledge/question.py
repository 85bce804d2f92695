"""A question to the routing: a text, a hook's `new_intent`, and the documents that hooks suggest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import UsageError
from samuel.base.printable import safe
from samuel.events.explain import explained
from samuel.events.session import Intent, SuggestedDocument


def intent_of(value: Mapping[str, Any] | None) -> Intent:
    """The intent in a `new_intent`, alone or inside the result of a hook; an empty one for None."""
    if value is None:
        return Intent("")
    inner = value["new_intent"] if isinstance(value, Mapping) and "new_intent" in value else value
    try:
        return convert(inner, Intent)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"not a valid intent: {safe(explained(error, Intent), keep='')}",
            "it needs `intent`, and may have `scope`, `topic`, `stage`, `signals`",
        ) from None


def suggested_of(suggestions: Iterable[Mapping[str, Any]]) -> list[SuggestedDocument]:
    try:
        return convert(list(suggestions), list[SuggestedDocument])
    except msgspec.ValidationError as error:
        hint = "each needs a `path`, and may have `reason` and `stage`"
        raise UsageError(
            f"not valid suggested documents: {safe(explained(error, SuggestedDocument), keep='')}", hint
        ) from None


class KnowledgeQuestion(NamedTuple):
    text: str
    """The intent, the user's input and the text, each on a line of its own and none twice."""
    command: str
    """The command that the user ran last."""

    def __bool__(self) -> bool:
        return bool(self.text or self.command)


def question_of(text: str, intent: Intent) -> KnowledgeQuestion:
    raw, command = (_signal(intent, name) for name in ("user_raw_input", "cli_command"))
    parts = dict.fromkeys(part for part in (intent.intent, raw, text) if part.strip())
    return KnowledgeQuestion("\n".join(parts), command)


def _signal(intent: Intent, name: str) -> str:
    value = (intent.signals or {}).get(name)
    return value if isinstance(value, str) and value.strip() else ""
