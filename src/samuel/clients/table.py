"""The agents that Samuel knows: a line each, with the parts that its directory has.

A part is imported when it is first asked for: `samuel emit --as CLIENT` needs one dialect and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean

TYPE_CHECKING = False  # `typing` is slow to import; type checkers know this name
if TYPE_CHECKING:
    from typing import Any

    from samuel.clients.adapter.agent import Agent
    from samuel.clients.dialect.client import Client
    from samuel.clients.entries.bridge_plan import BridgePlan, BridgeRequest
    from samuel.clients.entries.layout import ClientLayout
    from samuel.clients.hook_formats.entry import ReadEntries
    from samuel.clients.hook_formats.hook_format import HookFormat

# The parts of an agent, and the name in each part's module that is asked for.
ADAPTER = ("adapter", "AGENT")
DIALECT = ("dialect", "CLIENT")
RELAYED = ("dialect", "RELAYED")
ENTRIES = ("entries", "LAYOUT")
RUN_BRIDGE = ("entries", "bridge")
HOOK_FORMAT = ("hook_format", "FORMAT")
HOOK_ENTRY = ("hook_format", "read_entries")

# In the order of lists. A directory has the agent's name, with `_` for `-`.
PARTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "claude": (ADAPTER, DIALECT, ENTRIES, RUN_BRIDGE, HOOK_FORMAT, HOOK_ENTRY),
    "codex": (ADAPTER, DIALECT, ENTRIES, RUN_BRIDGE, HOOK_FORMAT, HOOK_ENTRY),
    "gemini": (ADAPTER, DIALECT, ENTRIES, RUN_BRIDGE),
    "copilot": (ADAPTER, DIALECT, RELAYED, ENTRIES, RUN_BRIDGE),
    "kiro": (ADAPTER, DIALECT, ENTRIES),
    "qwen": (ADAPTER, DIALECT, ENTRIES, RUN_BRIDGE),
    "opencode": (ADAPTER, DIALECT, ENTRIES, RUN_BRIDGE),
    "kimi": (ADAPTER, DIALECT, ENTRIES, RUN_BRIDGE),
    "cline": (ADAPTER, DIALECT, ENTRIES, RUN_BRIDGE),
    "pi": (ADAPTER,),
    "aider": (ADAPTER,),
    "mini-swe-agent": (ADAPTER,),
    "grok": (DIALECT, RELAYED, ENTRIES),
    "cursor": (DIALECT, RELAYED, ENTRIES, HOOK_FORMAT, HOOK_ENTRY),
    "agy": (ADAPTER, DIALECT, ENTRIES),
    "goose": (ADAPTER,),
    "scripted": (ADAPTER,),
}


class AgentParts(Mapping[str, "Any"]):
    """One part of the agents that have it, by the agent's name."""

    def __init__(self, part: tuple[str, str]) -> None:
        self._module, self._attribute = part
        self._names = tuple(name for name, parts in PARTS.items() if part in parts)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        module = import_module(f"samuel.clients.{name.replace('-', '_')}.{self._module}")
        return getattr(module, self._attribute)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


AGENTS: Mapping[str, Agent] = AgentParts(ADAPTER)
"""How each is run unattended."""
CLIENTS: Mapping[str, Client] = AgentParts(DIALECT)
"""What the hooks of each send, and how they want to be answered."""
RELAYED_CLIENTS: Mapping[str, Client] = AgentParts(RELAYED)
"""What those send that run the hooks of Claude Code, too, and how they want such a hook to answer."""
LAYOUTS: Mapping[str, ClientLayout] = AgentParts(ENTRIES)
"""Where each has its hooks, and how they look there."""
RUN_BRIDGES: Mapping[str, Callable[[BridgeRequest], BridgePlan]] = AgentParts(RUN_BRIDGE)
"""How each gets hooks for one process."""
HOOK_FORMATS: Mapping[str, HookFormat] = AgentParts(HOOK_FORMAT)
"""The format of hooks that were written for each."""
HOOK_ENTRIES: Mapping[str, ReadEntries] = AgentParts(HOOK_ENTRY)
"""The readers of files with such hooks."""


def client(name: str) -> Client:
    """The client with this name; UsageError with the nearest one if there is none."""
    if name not in CLIENTS:
        names = ", ".join(f"`{client_name}`" for client_name in CLIENTS)
        hint = did_you_mean(name, CLIENTS, f"it must be one of {names}")
        raise UsageError(f"`{name}` is not a client that Samuel can answer", hint)
    return CLIENTS[name]
