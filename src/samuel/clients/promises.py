"""What Samuel promises about a client only from some version of it on: one table, for checks and for the docs.

The versions of Claude Code are those of its changelog; what is named for the version that Samuel was run with was
seen there. A client that is not listed was only run with the version that its adapter names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

FAIL_CLOSED = "onFailure"
EXIT_CODE = "exit code 2"
MODS = "mods"
SUBAGENT_TEXT = "--forward-subagent-text"
BUDGET = "--max-budget-usd"


class VersionedPromise(NamedTuple):
    """Something that holds from one version of a client on."""

    key: str
    since: str
    what: str
    otherwise: str
    """What is so with an older version."""


PROMISES: Mapping[str, tuple[VersionedPromise, ...]] = {
    "claude": (
        VersionedPromise(
            FAIL_CLOSED,
            "2.1.295",
            "a call is denied where the hook's command cannot start, fails or takes too long",
            "the command itself denies where it can; if it cannot start or takes too long, the call goes on",
        ),
        VersionedPromise(
            MODS,
            "2.1.287",
            "mods of the user are found by `bridge check`, and are left out of runs",
            "there are no mods",
        ),
        VersionedPromise(
            BUDGET,
            "2.1.217",
            "an agent of a run ends itself when the budget is used up, with all its subagents",
            "only Samuel ends it, when it reports what it used",
        ),
        VersionedPromise(
            EXIT_CODE,
            "2.1.214",
            "exit code 2 of a hook denies, whatever the hook has printed before",
            "output that is not valid makes the denial void",
        ),
        VersionedPromise(
            SUBAGENT_TEXT,
            "2.1.211",
            "what subagents say is in the output of a run, so that a working subagent is not taken for idle",
            "subagents are seen by their tool calls only",
        ),
    ),
}


def keeps(client: str, key: str, version: str) -> bool:
    """Whether this version of the client keeps the promise; False if the version is not known."""
    return any(promise.key == key and is_at_least(version, promise.since) for promise in PROMISES.get(client, ()))


def unmet(client: str, version: str) -> list[VersionedPromise]:
    """The promises that this version of the client does not keep; none if the version is not known."""
    if not is_at_least(version, "0"):
        return []
    return [promise for promise in PROMISES.get(client, ()) if not is_at_least(version, promise.since)]


def is_at_least(version: str, since: str) -> bool:
    try:
        return Version(version) >= Version(since)
    except InvalidVersion:
        return False
