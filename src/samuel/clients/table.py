"""The table of clients."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.clients.agy import dialect as agy
from samuel.clients.claude import dialect as claude
from samuel.clients.cline import dialect as cline
from samuel.clients.codex import dialect as codex
from samuel.clients.copilot import dialect as copilot
from samuel.clients.cursor import dialect as cursor
from samuel.clients.dialect.client import Client
from samuel.clients.gemini import dialect as gemini
from samuel.clients.kimi import dialect as kimi
from samuel.clients.opencode import dialect as opencode
from samuel.clients.qwen import dialect as qwen

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
