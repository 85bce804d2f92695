"""PreAbilityCall: denies calls, or asks about them, by the rules in its YAML. A fault of it denies too.

It is shown the final input, after whatever other hooks made of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UnsetType

from samuel.events import PreAbilityCall
from samuel.rules.policy import ALLOW, Call, Policy, first_fitting
from samuel.shipped.told import besides, environment, told

ENVIRONMENTS = ("environment", "env", "target_environment")  # the keys by which an input says where it is for

# A path in a command line ends where a shell would end it.
_APART = re.compile(r"""[\s"'`=;|&<>()]+""")


def hook(event: PreAbilityCall) -> dict[str, Any]:
    found = first_fitting(told(event, Policy), _call(event))
    if found is None:
        return {}
    number, rule = found
    if rule.decision == ALLOW:
        return {"logs": [{"level": "info", "message": f"rule {number} lets `{event.ability_id}` go on"}]}
    reason = rule.reason or f"rule {number} of the policy says {rule.decision} to `{event.ability_id}`"
    if rule.decision == "ask":
        return {"decision": "ask", "reason": reason}
    return {"decision": "deny", "reason": reason, "error": "blocked_by_policy", "messages_to_user": [reason]}


def _call(event: PreAbilityCall) -> Call:
    given = None if isinstance(event.tool_input, UnsetType) else event.tool_input
    return Call(
        field=lambda name: None if isinstance(value := getattr(event, name), UnsetType) else value,
        environments=frozenset(_environments(event, given)),
        paths=frozenset(_paths(given, event.project_root)),
    )


def _environments(event: PreAbilityCall, given: Any) -> Iterator[str]:
    said = [environment(), *(besides(event, key) for key in ENVIRONMENTS)]
    said += [given.get(key) for key in ENVIRONMENTS] if isinstance(given, Mapping) else []
    return (one for one in said if isinstance(one, str) and one)


def _paths(given: Any, root: str) -> Iterator[str]:
    """Everything in the input that could be a path: each text, and each word of it; also where links lead."""
    for text in _texts(given):
        for word in {text, *_APART.split(text)}:
            if word and "\0" not in word:
                path = os.path.normpath(os.path.join(root, word))
                yield _from(root, path)
                yield _from(os.path.realpath(root), os.path.realpath(path))


def _texts(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, (list, tuple)):
            left += one


def _from(root: str, path: str) -> str:
    return path.removeprefix(f"{root}/")
