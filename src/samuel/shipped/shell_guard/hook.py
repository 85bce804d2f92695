"""PreAbilityCall: denies calls that could lose something, or asks about them, by rules that come with Samuel.

It sees the final input, after all hooks that rewrite it. If it fails, the call is denied.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UnsetType

from samuel.clients.dialect.tools import MCP
from samuel.events import PreAbilityCall
from samuel.shipped.event_fields import config_of, one_line
from samuel.shipped.policy_guard.hook import guarded_call, reason_of
from samuel.shipped.policy_guard.rules import ALLOW, judge
from samuel.shipped.shell_guard.catalogue import GuardFinding, findings, strictest
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import FileMode
from samuel.shipped.shell_guard.places import Places
from samuel.shipped.shell_guard.rules import ShellGuardRules
from samuel.shipped.tool_input import command_lines, directories_of, environments_of, texts

_MODES: dict[str, FileMode] = {"read": "read", "search": "read", "edit": "write", "write": "write"}
_WRITING_TOOL = re.compile(r"write|edit|create|update|move|rename|delete|remove|replace|patch|save", re.IGNORECASE)
_PATCH = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$|^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)", re.MULTILINE
)
_PATH_KEYS = frozenset(
    {"path", "file_path", "filepath", "file", "filename", "notebook_path", "target_file", "paths"}
)
_STRICT_ENVIRONMENTS = frozenset({"prod", "production"})


def hook(event: PreAbilityCall) -> dict[str, Any]:
    config = config_of(event, ShellGuardRules)
    tool_input = None if isinstance(event.tool_input, UnsetType) else event.tool_input
    own = judge(config.policy, guarded_call(event, config.policy)) if config.policy.rules else None
    if own is not None and own.decision == ALLOW:
        return {"logs": [{"level": "info", "message": f"rule {own.number} allows `{event.ability_id}`"}]}
    is_strict = any(name.casefold() in _STRICT_ENVIRONMENTS for name in environments_of(event, tool_input))
    if own is not None:
        return _answer(own.decision, reason_of(own, event.ability_id), is_strict)
    finding = strictest(findings(_call(event, tool_input), config.off))
    return {} if finding is None else _answer(finding.rule.decision, _reason(finding), is_strict)


def _answer(decision: str, reason: str, is_strict: bool) -> dict[str, Any]:
    if decision == "ask" and not is_strict:
        return {"decision": "ask", "reason": reason}
    return {"decision": "deny", "reason": reason, "error": "blocked_by_policy", "messages_to_user": [reason]}


def _reason(finding: GuardFinding) -> str:
    return f"{finding.rule.why}: `{one_line(finding.text, 200)}` (rule `{finding.rule.id}` of shell_guard)"


def _call(event: PreAbilityCall, tool_input: Any) -> GuardedShellCall:
    mode = _mode(event.ability_id)
    uses: list[tuple[FileMode, str]] = [("write", path) for path in _patched(tool_input)]
    if mode is not None:
        uses += ((mode, text) for key, text in texts(tool_input) if key in _PATH_KEYS)
    return GuardedShellCall(
        list(command_lines(tool_input, event.ability_id)),
        Places(event.project_root, os.environ.get("HOME", ""), os.environ.get("TMPDIR", "")),
        directories=directories_of(event, tool_input),
        environment=os.environ,
        tool_uses=uses,
    )


def _mode(ability_id: str) -> FileMode | None:
    """What a tool does with the files it names: one of the common tools, or one of an MCP server by its name."""
    if ability_id in _MODES:
        return _MODES[ability_id]
    if not ability_id.startswith(MCP):
        return None
    return "write" if _WRITING_TOOL.search(ability_id) else "read"


def _patched(value: Any) -> Iterator[str]:
    """The files that a patch in the input changes."""
    queue = [value]
    while queue:
        item = queue.pop()
        if isinstance(item, Mapping):
            queue += item.values()
        elif isinstance(item, (list, tuple)):
            queue += item
        elif isinstance(item, str) and "\n" in item:
            yield from (next(filter(None, match.groups())).strip() for match in _PATCH.finditer(item))
