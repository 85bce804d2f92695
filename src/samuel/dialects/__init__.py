"""Other systems' names and payloads, translated to Samuel's and back, by pure functions.

A hook file may answer with a name of any dialect; `understand` says which event that is and who translates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.dialects import kodelet, repo
from samuel.events.names import canonical


class Dialect(NamedTuple):
    to_theirs: Callable[[Mapping[str, Any]], dict[str, Any]]
    from_theirs: Callable[[str, Mapping[str, Any]], dict[str, Any]]


DIALECTS: Mapping[str, Dialect] = {
    kodelet.NAME: Dialect(kodelet.to_theirs, kodelet.from_theirs),
    repo.NAME: Dialect(repo.to_theirs, repo.from_theirs),
}


def understand(name: str) -> tuple[str, str]:
    """The event a hook named, and the dialect it named it in ("" for Samuel's own names)."""
    return canonical(name), kodelet.NAME if name in kodelet.EVENTS else ""
