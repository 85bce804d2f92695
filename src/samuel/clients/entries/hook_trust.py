"""What a client asks of its user before it runs hooks, and where it records that the user did it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from samuel.clients.entries.settings_file import read_settings, table_in

Level = Literal["project", "user"]

Ask = Callable[[bytes], bytes | None]
"""Lines for a program's stdin -> what it answers on stdout; None if it does not."""
Converse = Callable[[Sequence[str], Sequence[str]], AbstractContextManager[Ask]]
"""Starts a program, with these of the user's variables, and ends it afterwards."""


class BridgeEntry(NamedTuple):
    """One file of a client with Samuel's entries."""

    client: str
    level: Level
    file: Path
    events: tuple[str, ...]
    current: bool
    """Whether `add` would leave it as it is."""
    fails_closed: bool = True
    """Whether it tells the client to deny where the command fails; True for a client that cannot be told."""


class TrustQuestion(NamedTuple):
    """Does the client trust these entries?"""

    root: Path
    environment: Mapping[str, str]
    home: Path
    """The client's own directory."""
    entries: tuple[BridgeEntry, ...]
    converse: Converse
    """For a client that has to be asked."""

    @property
    def above(self) -> tuple[Path, ...]:
        """The project's root and the directories above it."""
        resolved = Path(os.path.realpath(self.root))
        return (resolved, *resolved.parents)


class TrustFacts(NamedTuple):
    """What a client asks of its user, and how to look up whether that was done."""

    steps: Mapping[Level, str] = MappingProxyType({})
    """What the user has to do before hooks of this level run; none where the client does not ask."""
    look_up: Callable[[TrustQuestion], bool] | None = None
    """None: it cannot be looked up."""
    asks_itself: bool = False
    """Whether it asks before its first session in a directory; other clients skip the hooks and say nothing."""


def folder_is_trusted(question: TrustQuestion, *, enabled_by_default: bool) -> bool:
    """Whether a client of Gemini CLI's family trusts the project's folder."""
    security = table_in(read_settings(question.home / "settings.json"), "security")
    if not table_in(security, "folderTrust").get("enabled", enabled_by_default):
        return True
    rules = read_settings(question.home / "trustedFolders.json")
    best, trusted = -1, False
    for folder, rule in rules.items():
        place = os.path.realpath(os.path.dirname(folder) if rule == "TRUST_PARENT" else folder)
        if len(folder) > best and question.above[0].is_relative_to(place):
            best, trusted = len(folder), rule in ("TRUST_FOLDER", "TRUST_PARENT")
    return trusted
