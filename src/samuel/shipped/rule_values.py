"""Kinds of values that the rules of several shipped hooks have in common, and rules that are one number."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable

MAX_ENTRIES = 1000  # of one list


def entries(table: ConfigTable, key: str) -> Iterator[ConfigTable]:
    """The tables in the list at `key`."""
    for index, values in enumerate(table.take(key, _tables, [])):
        yield table.entry(key, index, values)


def expressions(value: object) -> tuple[str, ...]:
    """Regular expressions: one, or a list of them."""
    patterns = kinds.patterns(value)
    for pattern in patterns:
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"must be a regular expression; `{pattern[:80]}` is not: {error}") from None
    return patterns


def sentence(value: object) -> str:
    """A text as one line."""
    text = " ".join(kinds.text(value).split())
    if not text:
        raise ValueError("must not be empty")
    return text


def _tables(value: object) -> list[dict[str, object]]:
    items = kinds.array(value)
    if len(items) > MAX_ENTRIES:
        raise ValueError(f"must have at most {MAX_ENTRIES} entries, not {len(items)}")
    tables = [item for item in items if isinstance(item, dict)]
    if len(tables) < len(items):
        raise ValueError("must be a list of tables")
    return tables


class SuggestionRules(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How many abilities `skill_activation_prompt` suggests: `limit: 3` below `config:`."""

    limit: int = 3
    """The maximum number of abilities suggested for one message."""


def read_suggestion_rules(table: ConfigTable) -> SuggestionRules:
    return SuggestionRules(table.take("limit", kinds.positive, SuggestionRules().limit))


class TrackingRules(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """When `post_tool_use_tracker` reports an ability as used often: `frequent: 5` below `config:`."""

    frequent: int = 5
    """The number of successful calls from which on an ability counts as used often."""


def read_tracking_rules(table: ConfigTable) -> TrackingRules:
    return TrackingRules(table.take("frequent", kinds.positive, TrackingRules().frequent))
