"""The protocols that hooks may be written in: their event names, payloads and results.

A hook file may name its events in any of them; `event_and_dialect` tells which event and which dialect is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.clients.hook_formats import kodelet, yaml_context
from samuel.events.names import canonical


class Dialect(NamedTuple):
    """The two translations of a protocol."""

    translate_payload: Callable[[Mapping[str, Any]], dict[str, Any]]  # Samuel's payload -> what the hook reads
    translate_result: Callable[[str, Mapping[str, Any]], dict[str, Any]]  # event, what the hook wrote -> a result


DIALECTS: Mapping[str, Dialect] = {
    kodelet.NAME: Dialect(kodelet.translate_payload, kodelet.translate_result),
    yaml_context.NAME: Dialect(yaml_context.translate_payload, yaml_context.translate_result),
}


def event_and_dialect(name: str) -> tuple[str, str]:
    """The event a hook named, and the dialect it named it in ("" for Samuel's own names)."""
    return canonical(name), kodelet.NAME if name in kodelet.EVENTS else ""
