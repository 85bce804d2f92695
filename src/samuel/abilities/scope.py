"""Whether an ability is meant for a part of the repository."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from samuel.files.globs import LONGEST

_GLOB = re.compile(r"[*?\[]")
_BETWEEN = re.compile(r"[/.]")


def in_scope(scopes: Iterable[str], asked: str) -> bool:
    """`billing` is in `billing/invoices` and the other way round; `modules/billing.*` is a pattern.

    What has no scope at all is meant for everything.
    """
    listed = list(scopes)
    return not listed or any(_covers(scope.casefold(), asked.casefold()) for scope in listed)


def _covers(scope: str, asked: str) -> bool:
    if _GLOB.search(scope):
        return len(scope) <= LONGEST and fnmatchcase(asked, scope)
    one, other = _BETWEEN.split(scope.strip("/")), _BETWEEN.split(asked.strip("/"))
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
