"""Which events a hook wants to see: the filters below `match` in a YAML hook. All of them must hold.

A filter looks at one field of the event. What the event does not say is an empty text, no file, or no time at all.
The filters are plain values, and little is imported: `samuel emit` asks this before the engine is loaded.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from samuel.files.globs import any_chosen

TYPE_CHECKING = False  # `typing` is slow to import; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Field = Callable[[str], Any]  # the value of an event's field; None where the event does not say

# The field of the event that a filter is about: an event without it cannot be filtered so.
FIELDS = {
    "ability_id": "ability_id",
    "ability_scope": "ability_id",
    "operation_key": "operation_key",
    "min_duration_ms": "duration_ms",
    "only_if_changed_paths": "changed_files",
    "status": "status",
    "stage": "stage",
    "recipe_name": "recipe_name",
}
SCOPE = "ability_scope"  # what `extra` of an event may say: the scopes that the registry gives an ability


def holds(match: Mapping[str, Any], field: Field) -> bool:
    return all(_RULES[name](wanted, field) for name, wanted in match.items())


def words(match: Mapping[str, Any]) -> str:
    """For a person to read: `ability_scope billing.*, min_duration_ms 500`."""
    return ", ".join(f"{name} {_shown(wanted)}" for name, wanted in match.items())


def _shown(wanted: Any) -> str:
    return " or ".join(wanted) if isinstance(wanted, (list, tuple)) else str(wanted)


def _glob(name: str) -> Callable[[Sequence[str], Field], bool]:
    return lambda globs, field: _fits([_text(field(name))], globs)


def _scope(globs: Sequence[str], field: Field) -> bool:
    """The registry's scopes, if the caller knows them; else the names of the call, and what they begin with."""
    said = (field("extra") or {}).get(SCOPE)
    if isinstance(said, str):
        return _fits([said], globs)
    if isinstance(said, (list, tuple)):
        return _fits([_text(one) for one in said], globs)
    key = _text(field("operation_key")).split(".")
    beginnings = [".".join(key[:end]) for end in range(1, len(key) + 1)]
    return _fits([_text(field("ability_id")), *beginnings], globs)


def _fits(names: Sequence[str], globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs for name in names or [""])


def _took(least: float, field: Field) -> bool:
    took = field("duration_ms")
    return (took if isinstance(took, (int, float)) else 0) >= least


def _changed(patterns: Sequence[str], field: Field) -> bool:
    changed, root = field("changed_files"), _text(field("project_root"))
    return any_chosen((_relative(_text(path), root) for path in changed or ()), patterns)


def _relative(path: str, root: str) -> str:
    """As the patterns mean it: from the project's root."""
    path = os.path.normpath(path)
    return path.removeprefix(f"{root}/") if root else path


def _one_of(name: str) -> Callable[[Sequence[str], Field], bool]:
    return lambda values, field: field(name) in values


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_RULES: Mapping[str, Callable[[Any, Field], bool]] = {
    "ability_id": _glob("ability_id"),
    "ability_scope": _scope,
    "operation_key": _glob("operation_key"),
    "min_duration_ms": _took,
    "only_if_changed_paths": _changed,
    "status": _one_of("status"),
    "stage": _one_of("stage"),
    "recipe_name": _glob("recipe_name"),
}
