"""What hooks suggest to the agent that is about to work, as one section at the end of its prompt.

Hints are checked before they are passed on: an ability must be in the registry and able to run here, a document
must exist. The agent is told how to use them; nothing is run for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.dispatch.record import Fired, HandlerCall
from samuel.routing.abilities import registry
from samuel.routing.abilities.execution.check import in_environment
from samuel.routing.abilities.model import Ability
from samuel.routing.knowledge.question import check_suggestions, suggested_of
from samuel.routing.knowledge.reading import find_root, read_base
from samuel.routing.knowledge.route import route

BEGIN = "<!-- samuel: suggestions of this project's hooks -->"
END = "<!-- samuel: end of the suggestions -->"
MOST_ABILITIES = 10
LONGEST = 300  # characters of one reason or summary

ABILITIES, DOCUMENTS, INTENT = "suggested_abilities", "suggested_documents", "new_intent"


class SuggestionSection(NamedTuple):
    text: str = ""
    """"" if there is nothing to suggest."""
    warnings: tuple[str, ...] = ()
    """What was suggested and is left out, and why."""


class Hints(NamedTuple):
    """What handlers returned, each within its budget."""

    abilities: tuple[Mapping[str, Any], ...] = ()
    documents: tuple[Mapping[str, Any], ...] = ()
    intent: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()


def hints_of(results: Sequence[Fired], budget: int) -> Hints:
    """The hints of these events, the surest abilities first. `budget` is what one handler may add, in bytes."""
    hints = Hints()
    best: dict[str, Mapping[str, Any]] = {}
    for fired in results:
        for call in fired.calls:
            suggestions, warnings = _within_budget(call, budget)
            for suggestion in suggestions[ABILITIES]:
                better = best.get(suggestion["id"])
                if better is None or _confidence(suggestion) > _confidence(better):
                    best[suggestion["id"]] = suggestion
            hints = hints._replace(
                documents=(*hints.documents, *suggestions[DOCUMENTS]), warnings=(*hints.warnings, *warnings)
            )
        hints = hints._replace(intent=fired.result.get(INTENT) or hints.intent)
    return hints._replace(abilities=tuple(sorted(best.values(), key=lambda suggestion: -_confidence(suggestion))))


@dataclass(frozen=True)
class SuggestionWriter:
    """Writes the section for the agents of one project."""

    root: Path
    cache: Path
    environment: str
    budget: int
    refusal: Callable[[Ability], str]
    """Why an ability is not trusted; "" if it is."""

    def __call__(self, results: Sequence[Fired], can_call: bool) -> SuggestionSection:
        """`can_call` is false where `samuel` cannot run abilities: inside a container."""
        hints = hints_of(results, self.budget)
        warnings = list(hints.warnings)
        blocks = [
            *self._abilities(hints.abilities if can_call else (), warnings),
            *self._documents(hints, can_call, warnings),
        ]
        if not blocks:
            return SuggestionSection("", tuple(warnings))
        begin = f"{BEGIN}\n## Suggested by hooks\n\nThese are hints. Use what helps, and ignore the rest."
        return SuggestionSection("\n\n".join([begin, *blocks, END]) + "\n", tuple(warnings))

    def _abilities(self, suggestions: Sequence[Mapping[str, Any]], warnings: list[str]) -> Iterator[str]:
        if not suggestions:
            return
        abilities = registry.load(self.root, self.cache).by_name
        lines: list[str] = []
        notes: list[str] = []
        for suggestion in suggestions:
            ability = abilities.get(suggestion["id"])
            if ability is None or ability.implementation is None:
                why = "is not in the registry" if ability is None else "has no implementation"
                warnings.append(f"a hook suggests the ability `{_line(suggestion['id'])}`, which {why}")
            elif elsewhere := in_environment(ability, self.environment):
                notes.append(f"- {elsewhere.reason}")
            elif why := self.refusal(ability):
                warnings.append(f"a hook suggests the ability `{ability.id}`, which cannot run: {why}")
            else:
                reason = _line(suggestion.get("reason") or "")
                because = f" Suggested because: {reason}" if reason and reason != _line(ability.summary) else ""
                lines.append(f"- `{ability.id}`: {_line(ability.summary)}.{because}".replace("..", "."))
        if lines:
            how = (
                "Run one with `samuel ability call ID --input JSON`; `samuel ability show ID` shows what it takes."
            )
            yield "\n".join([f"Abilities that fit. {how}", *lines[:MOST_ABILITIES]])
        if notes:
            yield "\n".join(["Abilities that fit and cannot run here:", *notes[:MOST_ABILITIES]])

    def _documents(self, hints: Hints, can_call: bool, warnings: list[str]) -> Iterator[str]:
        if not hints.documents and not hints.intent:
            return
        base = find_root(self.root)
        try:
            lines = self._read_first(base, hints, warnings)
        except SamuelError as error:
            warnings.append(f"what hooks suggest to read cannot be found: {error.message}")
            lines = []
        if hints.intent:
            yield _intent(hints.intent)
        if lines:
            yield "\n".join(["Documents to read first:", *lines])
        if base is not None and can_call:
            yield 'More documents, by what you want to know: `samuel knowledge route "TEXT"`.'

    def _read_first(self, base: Path | None, hints: Hints, warnings: list[str]) -> list[str]:
        if base is None:
            documents, refused = check_suggestions(self.root, suggested_of(hints.documents))
            warnings += refused
            return [f"- `{hint.path}`: {hint.reason}" for hint in documents]
        routed = route(read_base(base), intent=hints.intent, suggested=hints.documents, cache=self.cache)
        warnings += routed.reported
        place = base.relative_to(self.root)
        return [
            f"- `{place / document.path}`: {_line(document.doc_usage or document.reasons[-1])}"
            for document in routed.documents
        ]


def _intent(intent: Mapping[str, Any]) -> str:
    named = [f"{key} `{_line(str(intent[key]))}`" for key in ("scope", "topic", "stage") if intent.get(key)]
    where = f" ({', '.join(named)})" if named else ""
    return f"Intent: {_line(str(intent['intent']))}{where}"


def _within_budget(call: HandlerCall, budget: int) -> tuple[dict[str, list[Mapping[str, Any]]], list[str]]:
    """What a handler suggests, as much of it as it may add to a prompt; and a warning about the rest."""
    suggestions: dict[str, list[Mapping[str, Any]]] = {ABILITIES: [], DOCUMENTS: []}
    dropped = 0
    for key, entries in suggestions.items():
        for entry in call.result.get(key) or ():
            budget -= len(msgspec.json.encode(entry))
            if budget < 0:
                dropped += 1
            else:
                entries.append(entry)
    if not dropped:
        return suggestions, []
    limit = "`handler_prompt_bytes` under [limits] sets the limit"
    return suggestions, [f"{dropped} suggestions of `{call.handler.name}` left out of the prompt; {limit}"]


def _confidence(suggestion: Mapping[str, Any]) -> float:
    confidence = suggestion.get("confidence")
    return 0.5 if confidence is None else float(confidence)


def _line(text: str) -> str:
    """One line of plain text that cannot end the section."""
    plain = safe(" ".join(text.split()), keep="").replace("<!--", "< !--").replace("-->", "-- >")
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
