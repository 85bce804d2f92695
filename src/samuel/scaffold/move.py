"""The lines of samuel.toml that would move a handler within its chain, or let it run instead of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from samuel.config.duration import format_duration
from samuel.config.edit import Value, snippet
from samuel.config.model import DEFAULT, Config, HandlerRef
from samuel.hooks.handler import Handler, Origin
from samuel.hooks.order import Chain, ChainStep

APART = 10  # room for others between two numbers


class Move(NamedTuple):
    to: str  # first, last
    toml: str


def move(step: ChainStep, chain: Chain, config: Config, methodology: str) -> Move:
    """To the front of its chain, or, for the one that stands there, behind the others."""
    to = "last" if step is chain.steps[0] and len(chain.steps) > 1 else "first"
    where = _where(chain.event.name, config, methodology)
    settings = config.settings(chain.event.name, methodology)
    if settings.handlers is not None:
        return Move(to, snippet((*where, "handlers"), _listed(step, chain, settings.handlers, to)))
    numbers = [other.order for other in chain.steps if other.order is not None]
    number = min(numbers) - APART if to == "first" else max(numbers) + APART
    return Move(to, snippet((*where, "order", reference(step.handler)), number))


def instead(handler: Handler, event: str, config: Config, methodology: str) -> str:
    """The lines that let this handler run, on an event of which only one does."""
    return snippet((*_where(event, config, methodology), "handlers"), [reference(handler)])


def reference(handler: Handler) -> str:
    """How samuel.toml names a handler."""
    return DEFAULT if handler.origin is Origin.BUILT_IN else handler.name


def _where(event: str, config: Config, methodology: str) -> tuple[str, ...]:
    """The table of samuel.toml that decides the handlers of this event."""
    chosen = config.methodology.get(methodology)
    if chosen is not None and event in chosen.hooks:
        return "methodology", methodology, "hooks", event
    return "hooks", event


def _listed(step: ChainStep, chain: Chain, refs: Sequence[HandlerRef], to: str) -> list[Value]:
    """The whole chain by name, in the new order, each with its settings in `handlers`."""
    ref_of = {ref.use: ref for ref in refs}
    others = [other for other in chain.steps if other is not step]
    order = [step, *others] if to == "first" else [*others, step]
    return [_item(reference(other_step.handler), ref_of) for other_step in order]


def _item(name: str, ref_of: Mapping[str, HandlerRef]) -> Value:
    if (ref := ref_of.get(name)) is None:
        return name
    item: dict[str, Value] = {"use": name}
    if ref.strict is not None:
        item["strict"] = ref.strict
    if ref.timeout is not None:
        item["timeout"] = format_duration(ref.timeout)
    if ref.mode:
        item["mode"] = ref.mode
    return item if len(item) > 1 else name
