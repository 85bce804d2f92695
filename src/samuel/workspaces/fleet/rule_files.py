"""The files by which agents are judged, with digests: a machine works with the same ones as the coordinator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from samuel.base.paths import LOCK, PLUGIN_DIRS
from samuel.trust.digests import digest_file
from samuel.workspaces.lanes.rules import rule_names

OF_A_MACHINE = PLUGIN_DIRS  # installed on each machine, by samuel.lock
MOST_NAMED = 5


def rule_digests(root: Path) -> dict[str, str]:
    """The digest of each file by its path; samuel.lock says which plugins there are."""
    names = [name for name in rule_names(root) if not name.startswith(OF_A_MACHINE)]
    if (root / LOCK).is_file():
        names.append(LOCK)
    return {name: digest_file(str(root / name)) for name in names}


def differing(expected: Mapping[str, str], present: Mapping[str, str]) -> str:
    """The files that are not the same, in words; "" if all are."""
    names = sorted(name for name in {*expected, *present} if expected.get(name) != present.get(name))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(f"`{name}`" for name in names[:MOST_NAMED]) + more
