"""A question to the routing: a text, a hook's `new_intent`, and the documents that hooks suggest.

Of the suggested documents, those that exist count; the others are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import UsageError
from samuel.base.printable import safe, shorten
from samuel.events.explain import explained
from samuel.events.session import Intent, SuggestedDocument
from samuel.routing.knowledge.model import DocumentHeader
from samuel.routing.knowledge.reading import read_document
from samuel.routing.knowledge.values import from_root

MOST = 50


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


class Hint(NamedTuple):
    path: str
    reason: str
    stage: tuple[str, ...]


def check_suggestions(root: Path, suggestions: Sequence[SuggestedDocument]) -> tuple[list[Hint], list[str]]:
    """The documents that can be read, each once, and the problems of the other suggestions."""
    hints: dict[str, Hint] = {}
    problems = []
    for suggestion in suggestions[:MOST]:
        try:
            document = _document(root, suggestion.path)
        except ValueError as error:
            problems.append(f"a hook suggests a document whose path {error}")
            continue
        if document.readable:
            because = f": {_line(suggestion.reason)}" if suggestion.reason.strip() else ""
            stage = (suggestion.stage,) if suggestion.stage else document.stages
            hints.setdefault(document.path, Hint(document.path, f"a hook suggests it{because}", stage))
        else:
            problems.append(f"a hook suggests `{shorten(suggestion.path)}`: {document.problems[0].what}")
    if len(suggestions) > MOST:
        problems.append(f"hooks suggest {len(suggestions)} documents; only the first {MOST} are used")
    return list(hints.values()), problems


def _document(root: Path, path: str) -> DocumentHeader:
    """The document at a path that a hook gave. It may begin with the routing root, absolute or by its name."""
    document = read_document(root, from_root(path))
    for prefix in (f"{root.absolute()}/", f"{root.absolute().name}/"):
        if not document.readable and path.startswith(prefix):
            return read_document(root, from_root(path.removeprefix(prefix)))
    return document


def _line(reason: str) -> str:
    return safe(" ".join(reason[:300].split()), keep="")
