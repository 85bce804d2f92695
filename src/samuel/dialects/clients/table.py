"""The table of clients."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.dialects.clients import (
    agy,
    claude,
    cline,
    codex,
    copilot,
    cursor,
    gemini,
    kimi,
    opencode,
    qwen,
)
from samuel.dialects.clients.client import Client

CLIENTS: Mapping[str, Client] = {
    module.CLIENT.name: module.CLIENT
    for module in (claude, codex, gemini, qwen, copilot, opencode, kimi, cline, cursor, agy)
}


def client(name: str) -> Client:
    """The client with this name; UsageError with the nearest one if there is none."""
    if name not in CLIENTS:
        names = ", ".join(f"`{client_name}`" for client_name in CLIENTS)
        hint = did_you_mean(name, CLIENTS, f"it must be one of {names}")
        raise UsageError(f"`{name}` is not a client that Samuel can answer", hint)
    return CLIENTS[name]
