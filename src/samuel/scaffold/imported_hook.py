"""A hook that was written for an agent, as a YAML hook of Samuel's. Its script stays as it is."""

from __future__ import annotations

import json
import re
from typing import Any

from samuel.base import paths
from samuel.clients.dialect.tools import mcp_with_underscores
from samuel.clients.hook_formats.client_hook import ClientHook
from samuel.clients.hook_formats.matcher import (
    ALL,
    CLIENT_COMMAND,
    CLIENT_OCCASION,
    CLIENT_TOOL,
    listed_names,
    matches,
)
from samuel.clients.hook_formats.permission_rule import CLIENT_RULE
from samuel.clients.table import HOOK_FORMATS
from samuel.config.duration import format_duration
from samuel.events import event_type
from samuel.hooks.handler import background_refusal
from samuel.scaffold.hook import WrittenHook

_ALL_OF_MCP = re.compile(r"\^?mcp__(?:([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__)?\.\*\$?")


class NotConvertible(ValueError):
    """A hook that a YAML hook cannot express; the message says why."""


def imported_hook(hook: ClientHook, source: str) -> WrittenHook:
    """The YAML file for a hook from the file `source`; NotConvertible if it would not do the same."""
    if hook.left_out:
        raise NotConvertible(hook.left_out)
    if hook.env:
        raise NotConvertible("it belongs to a plugin, whose directory only `import_hooks` tells it")
    if hook.background and (why := background_refusal(event_type(hook.event))):
        raise NotConvertible(why)
    id = hook.name.replace("/", "-")
    fields: list[tuple[str, Any]] = [
        ("id", id),
        ("summary", f"{hook.client_event} of {source}"),
        ("event_type", hook.event),
        *((("timeout", format_duration(hook.timeout)),) if hook.timeout else ()),
        *((("blocking", True),) if hook.blocking else ()),
        *((("background", True),) if hook.background else ()),
    ]
    lines = [f"{key}: {_scalar(value)}" for key, value in fields]
    if filters := _filters(hook):
        lines += ["match:", *(f"  {key}: {_scalar(value)}" for key, value in filters.items())]
    by_shell = hook.words[:2] == ("sh", "-c")
    lines += [
        "handler:",
        "  kind: script",
        f"  protocol: {hook.client}/{hook.client_event}",
        *(("  shell: true",) if by_shell else ()),
        f"  command: {_scalar(hook.command if by_shell else list(hook.words))}",
    ]
    return WrittenHook(f"{paths.YAML_HOOKS}/{id}.yaml", "\n".join(lines) + "\n", 0o644)


def _scalar(value: Any) -> str:
    """A value in YAML: plain words as they are, anything else as JSON, which YAML contains."""
    if (
        isinstance(value, str)
        and re.fullmatch(r"[A-Za-z][A-Za-z0-9_/.-]*", value)
        and value.lower() not in _NO_TEXT
    ):
        return value
    return json.dumps(value, ensure_ascii=False)


_NO_TEXT = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")


def _filters(hook: ClientHook) -> dict[str, list[str]]:
    """The filters of `match` that mean what the hook's matcher means."""
    if CLIENT_RULE in hook.match:
        raise NotConvertible("it has a condition (`if`), which `match` does not have")
    if CLIENT_COMMAND in hook.match:
        raise NotConvertible(f"its matcher `{hook.matcher}` is about the command, which `match` does not look at")
    occasion = hook.match.get(CLIENT_OCCASION)
    if occasion and not matches(occasion["matcher"], [occasion["otherwise"]]):
        field = occasion["field"]
        raise NotConvertible(f"its matcher `{hook.matcher}` is about `{field}`, which `match` does not look at")
    filters = {key: value for key, value in hook.match.items() if key not in (CLIENT_TOOL, CLIENT_OCCASION)}
    if CLIENT_TOOL in hook.match and hook.matcher not in ALL:
        chosen = _ability_ids(hook)
        if "ability_id" in filters:
            raise NotConvertible(f"its matcher `{hook.matcher}` narrows tools that `match` cannot narrow")
        filters = {"ability_id": chosen, **filters}
    return filters


def _ability_ids(hook: ClientHook) -> list[str]:
    """Samuel's names of the tools that a matcher chooses."""
    hook_format = HOOK_FORMATS[hook.client]
    if (servers := _ALL_OF_MCP.fullmatch(hook.matcher)) and hook_format.mcp_name.startswith("mcp__"):
        return [f"mcp:{servers[1]}/*" if servers[1] else "mcp:*"]
    names = listed_names(hook.matcher)
    if names is None:
        raise NotConvertible(f"its matcher `{hook.matcher}` is an expression, and `match` has patterns with stars")
    common = {own: ability for ability, own_names in hook_format.tool_names.items() for own in own_names}
    return list(dict.fromkeys(common.get(name) or mcp_with_underscores(name) or name for name in names))
