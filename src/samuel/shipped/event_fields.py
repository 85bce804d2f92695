"""What every shipped hook asks of its event: what it is told, and what the caller said besides."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import msgspec
from msgspec import UnsetType

from samuel.decoding import convert
from samuel.events import Event

Told = TypeVar("Told", bound=msgspec.Struct)


def told(event: Event, kind: type[Told]) -> Told:
    """`config` of its YAML, which was checked when that was read."""
    return convert({} if isinstance(event.plugin, UnsetType) else dict(event.plugin.config), kind)


def besides(event: Event, key: str) -> Any:
    """What the caller said under a name that the contract does not have; None if nothing."""
    return None if isinstance(event.extra, UnsetType) else event.extra.get(key)


def environment() -> str:
    """Where Samuel runs: dev, prod, …"""
    return os.environ.get("SAMUEL_ENV", "")


def given(value: str | UnsetType) -> str:
    return "" if isinstance(value, UnsetType) else value


def line(text: str, most: int = 500) -> str:
    """What somebody said, as one line that can be written down."""
    said = " ".join(text.split())
    said = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in said[: most + 1])
    return said if len(said) <= most else f"{said[: most - 1]}…"
