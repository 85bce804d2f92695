"""PreAbilityCall: denies calls, or asks for a confirmation, by the rules in its YAML.

It sees the final input, after all hooks that rewrite it. If it fails, the call is denied.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import UnsetType

from samuel.events import PreAbilityCall
from samuel.shipped.event_fields import config_of, environment, extra_field
from samuel.shipped.policy_guard.rules import ALLOW, GuardedCall, Policy, first_match

ENVIRONMENT_KEYS = ("environment", "env", "target_environment")  # by which an input names its environment
COMMAND_KEYS = ("command", "cmd", "script", "code", "args")  # here a text of several lines names paths too
LONGEST_PATH = 4096  # characters; the system has none that is longer

# A path in a command line ends where a shell would end it.
_WORD_BREAK = re.compile(r"""[\s"'`=;|&<>()]+""")


def hook(event: PreAbilityCall) -> dict[str, Any]:
    policy = config_of(event, Policy)
    match = first_match(policy, _call(event, policy))
    if match is None:
        return {}
    number, rule = match
    if rule.decision == ALLOW:
        return {"logs": [{"level": "info", "message": f"rule {number} allows `{event.ability_id}`"}]}
    reason = rule.reason or f"rule {number} of the policy says {rule.decision} to `{event.ability_id}`"
    if rule.decision == "ask":
        return {"decision": "ask", "reason": reason}
    return {"decision": "deny", "reason": reason, "error": "blocked_by_policy", "messages_to_user": [reason]}


def _call(event: PreAbilityCall, policy: Policy) -> GuardedCall:
    tool_input = None if isinstance(event.tool_input, UnsetType) else event.tool_input

    def field(name: str) -> Any:
        value = getattr(event, name)
        if name == "operation_key" and isinstance(value, UnsetType):
            return event.ability_id  # the key of a low-level ability is its id; a caller may leave it out
        return None if isinstance(value, UnsetType) else value

    return GuardedCall(
        field=field,
        environments=frozenset(_environments(event, tool_input)),
        paths=frozenset(_paths(tool_input, event.project_root) if any(rule.path for rule in policy.rules) else ()),
    )


def _environments(event: PreAbilityCall, tool_input: Any) -> Iterator[str]:
    names = [environment(), *(extra_field(event, key) for key in ENVIRONMENT_KEYS)]
    names += [text for key, text in _texts(tool_input) if key in ENVIRONMENT_KEYS]
    return (name for name in names if isinstance(name, str) and name)


def _paths(tool_input: Any, root: str) -> Iterator[str]:
    """Everything in the input that could be a path, from the project's root; also the targets of links."""
    root_names, real, links = set(os.listdir(root)), cache(os.path.realpath), cache(_links)
    for word in {word for _, text in _texts(tool_input) for word in (text, *_WORD_BREAK.split(text)) if word}:
        # An input may be a megabyte of words: only those that can name a file are looked up.
        if word not in root_names and "/" not in word and word not in (".", ".."):
            yield word
            continue
        path = os.path.normpath(os.path.join(root, word))
        inner_path = path.removeprefix(f"{root}/")
        yield inner_path
        possible = len(path) <= LONGEST_PATH and "\0" not in path
        if possible and (os.path.isabs(inner_path) or inner_path.partition("/")[0] in root_names):
            directory, name = real(os.path.dirname(path)), os.path.basename(path)
            target = os.path.join(directory, name)
            target = real(target) if name in links(directory) else target
            inner_target = target.removeprefix(f"{real(root)}/")
            yield inner_target
            if os.path.isdir(target):  # a call that names a directory may touch every file in it
                yield from (f"{inner_path}/*", f"{inner_target}/*")


def _links(directory: str) -> set[str]:
    try:
        with os.scandir(directory) as entries:
            return {entry.name for entry in entries if entry.is_symlink()}
    except OSError:
        return set()


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """The texts of the input, each with its key. Those of several lines are left out, as content of a file."""
    queue = [("", value)]
    while queue:
        key, item = queue.pop()
        if isinstance(item, str):
            if "\n" not in item or key in COMMAND_KEYS:
                yield key, item
        elif isinstance(item, Mapping):
            queue += item.items()
        elif isinstance(item, (list, tuple)):
            queue += ((key, element) for element in item)
