"""Nested calls: a high-level ability may call what it lists, in its own environment, and never itself.

The process of an ability has the key of its call in SAMUEL_PARENT_CALL. It could remove the variable: against
processes of the same user this is a convention, not a security boundary. What a killed call left is found by it.
"""

from __future__ import annotations

from collections.abc import Iterable

from samuel.base.errors import SamuelError
from samuel.process.tree import end_leftovers
from samuel.routing.abilities.execution.call import AbilityCall, CallStatus
from samuel.routing.abilities.execution.call_store import CallStore
from samuel.routing.abilities.model import Ability
from samuel.routing.abilities.registry import Registry

VARIABLE = "SAMUEL_PARENT_CALL"
DEEPEST = 8


def objection(ability: Ability, parent: str, environment: str, calls: CallStore, registry: Registry) -> str:
    """Why the call with the key `parent` may not call an ability; "" if it may, and without a parent.

    The part after `; ` is a hint.
    """
    if not parent:
        return ""
    try:
        line = _ancestors(parent, calls)
    except SamuelError as error:
        return f"{VARIABLE} does not name a call: {error.message}"
    caller = line[0]
    if caller.status is not CallStatus.RUNNING:
        return f"the call `{parent}`, which this would be part of, is not running"
    if caller.environment and environment != caller.environment:
        here = f"in `{environment}`" if environment else "in no environment"
        return f"`{caller.ability_id}` is called in `{caller.environment}`, and this would be {here}"
    if any(call.ability_id == ability.id for call in line):
        path = " -> ".join(f"`{call.ability_id}`" for call in reversed(line))
        return f"`{ability.id}` would call itself: {path} -> `{ability.id}`"
    if len(line) >= DEEPEST:
        return f"calls may be nested {DEEPEST} deep, and this would be one more"
    calling_ability = registry.by_name.get(caller.ability_id)
    listed = calling_ability.calls if calling_ability else ()
    if not any(name in listed for name in ability.names):
        may = ", ".join(f"`{name}`" for name in listed) or "nothing"
        return f"`{caller.ability_id}` may not call `{ability.id}`: it lists {may}; see `calls:` in its file"
    return ""


def _ancestors(key: str, calls: CallStore) -> list[AbilityCall]:
    """The call, its parent, the parent of that, and so on."""
    line: list[AbilityCall] = []
    while key and len(line) <= DEEPEST:
        line.append(calls.load(key))
        key = line[-1].parent
    return line


def settle_killed(calls: CallStore, keys: Iterable[str] | None = None) -> None:
    """Record every call, or those of `keys`, whose process died as killed, and end processes that it left."""
    for key in calls.mark_killed(keys):
        end_leftovers(VARIABLE, key)
