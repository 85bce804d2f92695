"""The filters below `match` in a YAML hook: the hook is called only if all of them match the event.

A filter looks at one field of the event. A field that the event lacks counts as empty text, an empty list, or 0.
The filters are plain values, and little is imported: `samuel emit` evaluates them before the engine is loaded.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from samuel.clients.hook_formats.matcher import (
    CLIENT_COMMAND,
    CLIENT_OCCASION,
    CLIENT_TOOL,
    chooses_command,
    chooses_occasion,
    chooses_tool,
)
from samuel.clients.hook_formats.permission_rule import CLIENT_RULE, chooses_call
from samuel.files.globs import any_chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Field = Callable[[str], Any]  # the value of an event's field; None where the event lacks it

# The field of the event that each filter looks at; an event without that field cannot have the filter.
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
SCOPE = "ability_scope"  # key of `extra`: the scopes that the registry gives the ability


def holds(match: Mapping[str, Any], field: Field) -> bool:
    """True if all filters match the event whose fields `field` returns."""
    return all(_RULES[name](value, field) for name, value in match.items())


def words(match: Mapping[str, Any]) -> str:
    """The filters as text: `ability_scope billing.*, min_duration_ms 500`."""
    return ", ".join(f"{name} {_text_of(value)}" for name, value in match.items())


def _text_of(value: Any) -> str:
    if isinstance(value, dict):  # the matcher of a hook that was written for an agent
        return str(value["matcher"])
    return " or ".join(value) if isinstance(value, (list, tuple)) else str(value)


def _glob(name: str) -> Callable[[Sequence[str], Field], bool]:
    return lambda globs, field: _fits([_text(field(name))], globs)


def _scope(globs: Sequence[str], field: Field) -> bool:
    """Match the registry's scopes, if the event has them; else the ability's id and the prefixes of its key."""
    scopes = (field("extra") or {}).get(SCOPE)
    if isinstance(scopes, str):
        return _fits([scopes], globs)
    if isinstance(scopes, (list, tuple)):
        return _fits([_text(scope) for scope in scopes], globs)
    key = _text(field("operation_key")).split(".")
    beginnings = [".".join(key[:end]) for end in range(1, len(key) + 1)]
    return _fits([_text(field("ability_id")), *beginnings], globs)


def _fits(names: Sequence[str], globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs for name in names or [""])


def _duration(minimum: float, field: Field) -> bool:
    duration_ms = field("duration_ms")
    return (duration_ms if isinstance(duration_ms, (int, float)) else 0) >= minimum


def _changed(patterns: Sequence[str], field: Field) -> bool:
    changed, root = field("changed_files"), _text(field("project_root"))
    return any_chosen((_relative(_text(path), root) for path in changed or ()), patterns)


def _relative(path: str, root: str) -> str:
    """The path relative to the project, as in the patterns."""
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
    "min_duration_ms": _duration,
    "only_if_changed_paths": _changed,
    "status": _one_of("status"),
    "stage": _one_of("stage"),
    "recipe_name": _glob("recipe_name"),
    # Only of hooks that were written for an agent; YAML hooks do not have these.
    CLIENT_TOOL: chooses_tool,
    CLIENT_COMMAND: chooses_command,
    CLIENT_RULE: chooses_call,
    CLIENT_OCCASION: chooses_occasion,
}
