"""What the shipped hooks read from their events: their `config`, and fields that the caller may leave out."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import msgspec
from msgspec import UnsetType

from samuel.base.decoding import convert
from samuel.events import Event

Rules = TypeVar("Rules", bound=msgspec.Struct)


def config_of(event: Event, rules: type[Rules]) -> Rules:
    """`config` of the hook's YAML. It was checked when the file was read."""
    return convert({} if isinstance(event.plugin, UnsetType) else dict(event.plugin.config), rules)


def extra_field(event: Event, key: str) -> Any:
    """A field that the caller sent and that the payload does not define; None if there is none."""
    return None if isinstance(event.extra, UnsetType) else event.extra.get(key)


def environment() -> str:
    """The environment that Samuel runs in: dev, prod, …"""
    return os.environ.get("SAMUEL_ENV", "")


def text_or_empty(value: str | UnsetType) -> str:
    return "" if isinstance(value, UnsetType) else value


def one_line(text: str, max_length: int = 500) -> str:
    """`text` on one line, without characters that cannot be printed, cut to `max_length`."""
    words = " ".join(text.split())[: max_length + 1]
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words)
    return line if len(line) <= max_length else f"{line[: max_length - 1]}…"
