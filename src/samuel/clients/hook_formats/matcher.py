"""The `matcher` of a hook that was written for an agent: which of that agent's tools, commands or
occasions it is for.

A list of names (`Edit|Write`) is compared with the name; anything else is a regular expression to search for.
Expressions are evaluated in linear time, whatever they are: they may have come with a clone. The imports are few,
since `samuel emit` uses this before the engine is loaded.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

LONGEST = 1000  # characters of a matcher
ALL = ("", "*")
# The filters of a handler that hold a matcher.
CLIENT_TOOL, CLIENT_COMMAND, CLIENT_OCCASION = "client_tool", "client_command", "client_occasion"
_NAMES = re.compile(r"[A-Za-z0-9_| ,-]+")
_SEPARATOR = re.compile(r"[|,]")


def listed_names(matcher: str) -> list[str] | None:
    """The names in a matcher that is a list of names; None if it is a regular expression."""
    if not _NAMES.fullmatch(matcher):
        return None
    return [name.strip() for name in _SEPARATOR.split(matcher) if name.strip()]


def problem(matcher: str) -> str:
    """Why a matcher cannot be used, or ""."""
    if len(matcher) > LONGEST:
        return f"its matcher has more than {LONGEST} characters"
    if matcher in ALL or listed_names(matcher) is not None:
        return ""
    try:
        _expression(matcher)
    except ValueError:
        return f"its matcher `{matcher}` is not a regular expression without look-around and back-references"
    return ""


def matches(matcher: str, names: Sequence[str]) -> bool:
    """Does the matcher choose one of these names?"""
    if matcher in ALL:
        return True
    if (listed := listed_names(matcher)) is not None:
        return any(name in names for name in listed)
    try:
        is_valid = _expression(matcher)
    except ValueError:
        return True  # rather one call too many than a guard that is not called
    return any(is_valid(name) for name in names)


def chooses_tool(rule: Mapping[str, Any], field: Callable[[str], Any]) -> bool:
    """Is the event about a tool that the matcher chooses? `names` and `mcp` of the rule are the agent's names."""
    return matches(rule["matcher"], tool_names(rule, field))


def chooses_command(rule: Mapping[str, Any], field: Callable[[str], Any]) -> bool:
    """Does the command of the call, a text of any length, contain what the matcher looks for?"""
    tool_input = field("tool_input")
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if rule["matcher"] in ALL or not isinstance(command, str):
        return True
    try:
        return _expression(rule["matcher"])(command)
    except ValueError:
        return True


def occasion_match(matcher: str, field: str, otherwise: str) -> dict[str, Any]:
    """The filter that a matcher on a field of the event means; {} if it is for all events."""
    if matcher in ALL:
        return {}
    return {CLIENT_OCCASION: {"matcher": matcher, "field": field, "otherwise": otherwise}}


def chooses_occasion(rule: Mapping[str, Any], field: Callable[[str], Any]) -> bool:
    """Does the matcher choose the event by one of its fields? `otherwise` is its value if the event has none."""
    value = field(rule["field"]) or (field("extra") or {}).get(rule["field"])
    return matches(rule["matcher"], [value if isinstance(value, str) and value else rule["otherwise"]])


def tool_names(rule: Mapping[str, Any], field: Callable[[str], Any]) -> list[str]:
    """The names that the tool of the event has: Samuel's own one, and those of the rule's agent."""
    ability_id = field("ability_id")
    name = ability_id if isinstance(ability_id, str) else ""
    native = list(rule["names"].get(name, ()))
    if name.startswith("mcp:"):
        server, _, tool = name.removeprefix("mcp:").partition("/")
        native.append(rule["mcp"].replace("{server}", server).replace("{tool}", tool))
    return [*native, name]


@lru_cache(maxsize=256)
def _expression(matcher: str) -> Callable[[str], bool]:
    """A search for the expression as in JavaScript; ValueError if it is not one that takes linear time."""
    from jsonschema_rs import RegexOptions, validator_for  # several megabytes that most matchers do not need

    return validator_for({"pattern": matcher}, pattern_options=RegexOptions()).is_valid
