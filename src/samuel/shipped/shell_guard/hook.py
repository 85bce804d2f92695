"""PreAbilityCall: denies calls that could lose something, or asks about them, by rules that come with Samuel.

It sees the final input, after all hooks that rewrite it. If it fails, the call is denied.
"""

from __future__ import annotations

import os
from typing import Any

from msgspec import UnsetType

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

_MODES: dict[str, FileMode] = {"read": "read", "edit": "write", "write": "write"}
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
    mode = _MODES.get(event.ability_id)
    named = [text for key, text in texts(tool_input) if key in _PATH_KEYS] if mode else []
    return GuardedShellCall(
        list(command_lines(tool_input, event.ability_id)),
        Places(event.project_root, os.environ.get("HOME", ""), os.environ.get("TMPDIR", "")),
        directories=directories_of(event, tool_input),
        environment=os.environ,
        tool_uses=[(mode, path) for path in named] if mode else [],
    )
