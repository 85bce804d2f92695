"""The part of a settings file that a check reads, in a form that can be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

# Scripts that a package manager runs by itself, before or after another.
AUTOMATIC = re.compile(r"(?:pre|post).+|install|prepare|test")


class RelevantSettings(NamedTuple):
    exact: Any
    """What must not differ at all."""
    scripts: Mapping[str, Any] = {}
    """Commands by name: those that both have must be the same, and one may be added unless it runs by itself."""
    growing: Mapping[str, frozenset[str]] = {}
    """Lists to which something may be added: members of a workspace, tests that are named."""


def same_settings(old: RelevantSettings, new: RelevantSettings) -> bool:
    """Whether the newer settings make a check run as the older ones do."""
    return bool(old.exact == new.exact) and _same_scripts(old, new) and _grown(old, new)


def _same_scripts(old: RelevantSettings, new: RelevantSettings) -> bool:
    differing = old.scripts.keys() ^ new.scripts.keys()
    return not any(map(AUTOMATIC.fullmatch, differing)) and all(
        new.scripts[name] == command for name, command in old.scripts.items() if name in new.scripts
    )


def _grown(old: RelevantSettings, new: RelevantSettings) -> bool:
    """An empty list may mean everything, so the first entry of one is a change."""
    nothing: frozenset[str] = frozenset()
    for name in old.growing.keys() | new.growing.keys():
        before, after = old.growing.get(name, nothing), new.growing.get(name, nothing)
        if not after >= before or (after and not before):
            return False
    return True
