"""Whether an ability is meant for a part of the repository."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from samuel.files.globs import LONGEST

_GLOB = re.compile(r"[*?\[]")
_BETWEEN = re.compile(r"[/.]")


def in_scope(scopes: Iterable[str], wanted_scope: str) -> bool:
    """`billing` is in `billing/invoices` and the other way round; `modules/billing.*` is a pattern.

    Without scopes, everything is in scope.
    """
    listed = list(scopes)
    return not listed or any(_covers(scope.casefold(), wanted_scope.casefold()) for scope in listed)


def _covers(scope: str, wanted_scope: str) -> bool:
    if _GLOB.search(scope):
        return len(scope) <= LONGEST and fnmatchcase(wanted_scope, scope)
    parts, wanted_parts = _BETWEEN.split(scope.strip("/")), _BETWEEN.split(wanted_scope.strip("/"))
    shorter = min(len(parts), len(wanted_parts))
    return parts[:shorter] == wanted_parts[:shorter]
