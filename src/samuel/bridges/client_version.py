"""What the installed version of a client can do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from packaging.version import InvalidVersion, Version

from samuel.agents.check import installed_agents, version_number
from samuel.clients.table import AGENTS, LAYOUTS


def can_fail_closed(client: str, host: Mapping[str, str], root: Path) -> bool:
    """Whether the client on PATH can be told to deny where a hook fails; False if it is not installed."""
    since = LAYOUTS[client].fails_closed_since
    if not since:
        return False
    [installed] = installed_agents([AGENTS[client]], host, root)
    try:
        return Version(version_number(installed.version)) >= Version(since)
    except InvalidVersion:
        return False
