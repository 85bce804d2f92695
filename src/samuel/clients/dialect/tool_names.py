"""Names of tools in filters that no event has: a client's own name of a tool that has a common one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from samuel.clients.dialect.tools import COMMON_NAMES, mcp_with_underscores
from samuel.clients.table import CLIENTS

FILTER = "ability_id"


def common_name_for(tool_name: str) -> str:
    """The common name of a tool that clients have under this name; "" if there is none, or if this is one."""
    if tool_name in COMMON_NAMES:
        return ""
    names = {client.tools[tool_name].name for client in CLIENTS.values() if tool_name in client.tools}
    return mcp_with_underscores(tool_name) or (names.pop() if len(names) == 1 else "")


def warnings(handlers: Iterable[tuple[str, Mapping[str, Any]]], known_names: Iterable[str] = ()) -> list[str]:
    """A warning for each such name in the filters of handlers: (name, match). An ability may have any name."""
    abilities = set(known_names)
    return [
        f"`{handler}` matches the tool `{name}`, which no agent's call has: write `{common}`"
        for handler, match in dict(handlers).items()
        for name in match.get(FILTER, ())
        if name not in abilities and (common := common_name_for(name))
    ]
