"""The trust store of one project, and how it follows the project into a new repository."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from samuel.trust.repository import key_without_repository, trust_key
from samuel.trust.store import TrustStore

_AGREEMENTS = "trust/{}.json"
# What was trusted last keeps the places of guards that changed since; it belongs to the agreements.
_LAST_TRUSTED = ("client-hooks/{}", "declarations/{}", "yaml/{}", "requested-checks/{}.json")


def trust_of_project(state: Path, root: Path) -> TrustStore:
    """The agreements about the project at `root`; `state` is the user's state directory.

    A project that was trusted before it had a repository is trusted in it: agreements are to contents, so nothing
    new is trusted. A store that exists is not touched, or agreements that were revoked would come back.
    """
    key = trust_key(root)
    if not (state / _AGREEMENTS.format(key)).exists():
        _take_over(state, key_without_repository(root), key)
    return TrustStore(state / "trust", key)


def _take_over(state: Path, before: str, key: str) -> None:
    if not before or not (state / _AGREEMENTS.format(before)).exists():
        return
    # The agreements last: once they are there, so is the rest. Where nothing can be written, nothing is trusted.
    for place in (*_LAST_TRUSTED, _AGREEMENTS):
        with suppress(OSError):
            os.rename(state / place.format(before), state / place.format(key))
