"""What the installed version of a client can do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from samuel.agents.check import installed_agents, version_number
from samuel.clients.promises import FAIL_CLOSED, PROMISES, keeps, unmet
from samuel.clients.table import AGENTS


def installed_version(client: str, host: Mapping[str, str], root: Path) -> str:
    """The version of the client on PATH, like `2.1.326`; "" if there is none or nothing depends on it."""
    if client not in PROMISES:
        return ""
    [installed] = installed_agents([AGENTS[client]], host, root)
    return version_number(installed.version)


def can_fail_closed(client: str, host: Mapping[str, str], root: Path) -> bool:
    """Whether the client on PATH can be told to deny where a hook fails; False if it is not installed."""
    return keeps(client, FAIL_CLOSED, installed_version(client, host, root))


def version_notes(client: str, version: str) -> list[str]:
    """What this version of the client is too old for, in words."""
    return [
        f"{client} {version} is older than {promise.since}, so this does not hold: {promise.what} "
        f"(`{promise.key}`); {promise.otherwise}"
        for promise in unmet(client, version)
    ]
