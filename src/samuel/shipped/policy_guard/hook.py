"""PreAbilityCall: denies calls, or asks about them, by the rules in its YAML. A fault of it denies too.

It is shown the final input, after whatever other hooks made of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import UnsetType

from samuel.events import PreAbilityCall
from samuel.shipped.event_fields import besides, environment, told
from samuel.shipped.policy_guard.rules import ALLOW, GuardedCall, Policy, first_fitting

ENVIRONMENTS = ("environment", "env", "target_environment")  # the keys by which an input says where it is for
COMMANDS = ("command", "cmd", "script", "code", "args")  # of these also a text of several lines names paths
LONGEST_PATH = 4096  # characters; the system has none that is longer

# A path in a command line ends where a shell would end it.
_APART = re.compile(r"""[\s"'`=;|&<>()]+""")


def hook(event: PreAbilityCall) -> dict[str, Any]:
    policy = told(event, Policy)
    found = first_fitting(policy, _call(event, policy))
    if found is None:
        return {}
    number, rule = found
    if rule.decision == ALLOW:
        return {"logs": [{"level": "info", "message": f"rule {number} lets `{event.ability_id}` go on"}]}
    reason = rule.reason or f"rule {number} of the policy says {rule.decision} to `{event.ability_id}`"
    if rule.decision == "ask":
        return {"decision": "ask", "reason": reason}
    return {"decision": "deny", "reason": reason, "error": "blocked_by_policy", "messages_to_user": [reason]}


def _call(event: PreAbilityCall, policy: Policy) -> GuardedCall:
    given = None if isinstance(event.tool_input, UnsetType) else event.tool_input

    def field(name: str) -> Any:
        value = getattr(event, name)
        if name == "operation_key" and isinstance(value, UnsetType):
            return event.ability_id  # what a low-level ability is called by; a caller may leave its key out
        return None if isinstance(value, UnsetType) else value

    return GuardedCall(
        field=field,
        environments=frozenset(_environments(event, given)),
        paths=frozenset(_paths(given, event.project_root) if any(rule.path for rule in policy.rules) else ()),
    )


def _environments(event: PreAbilityCall, given: Any) -> Iterator[str]:
    said = [environment(), *(besides(event, key) for key in ENVIRONMENTS)]
    said += [text for key, text in _texts(given) if key in ENVIRONMENTS]
    return (one for one in said if isinstance(one, str) and one)


def _paths(given: Any, root: str) -> Iterator[str]:
    """Everything in the input that could be a path, from the project's root; also where links lead."""
    there, real, links = set(os.listdir(root)), cache(os.path.realpath), cache(_links)
    for word in {word for _, text in _texts(given) for word in (text, *_APART.split(text)) if word}:
        # An input may be a megabyte of words: what is no name here and could be none is not looked for.
        if word not in there and "/" not in word and word not in (".", ".."):
            yield word
            continue
        path = os.path.normpath(os.path.join(root, word))
        inside = path.removeprefix(f"{root}/")
        yield inside
        possible = len(path) <= LONGEST_PATH and "\0" not in path
        if possible and (os.path.isabs(inside) or inside.partition("/")[0] in there):
            directory, name = real(os.path.dirname(path)), os.path.basename(path)
            place = os.path.join(directory, name)
            place = real(place) if name in links(directory) else place
            leads = place.removeprefix(f"{real(root)}/")
            yield leads
            if os.path.isdir(place):  # whoever takes a directory takes what is in it
                yield from (f"{inside}/*", f"{leads}/*")


def _links(directory: str) -> set[str]:
    try:
        with os.scandir(directory) as entries:
            return {entry.name for entry in entries if entry.is_symlink()}
    except OSError:
        return set()


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """The texts of the input, each with its key, but for those of several lines: what is written into a file is no
    path."""
    left = [("", value)]
    while left:
        key, one = left.pop()
        if isinstance(one, str):
            if "\n" not in one or key in COMMANDS:
                yield key, one
        elif isinstance(one, Mapping):
            left += one.items()
        elif isinstance(one, (list, tuple)):
            left += ((key, item) for item in one)
