"""PreAbilityCall: denies calls, or asks for a confirmation, by the rules in its YAML.

It sees the final input, after all hooks that rewrite it. If it fails, the call is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import UnsetType

from samuel.events import PreAbilityCall
from samuel.shell import Opaque
from samuel.shipped.event_fields import config_of, one_line
from samuel.shipped.policy_guard.command_paths import CommandPaths, ProjectPaths
from samuel.shipped.policy_guard.command_rules import ShellCall
from samuel.shipped.policy_guard.rules import ALLOW, GuardedCall, Policy, PolicyVerdict, judge
from samuel.shipped.tool_input import SHELL, command_lines, directories_of, environments_of, texts

# A path in a command line ends where a shell would end it.
_WORD_BREAK = re.compile(r"""[\s"'`=;|&<>()]+""")


def hook(event: PreAbilityCall) -> dict[str, Any]:
    policy = config_of(event, Policy)
    verdict = judge(policy, guarded_call(event, policy))
    if verdict is None:
        return {}
    if verdict.decision == ALLOW:
        return {"logs": [{"level": "info", "message": f"rule {verdict.number} allows `{event.ability_id}`"}]}
    reason = reason_of(verdict, event.ability_id)
    if verdict.decision == "ask":
        return {"decision": "ask", "reason": reason}
    return {"decision": "deny", "reason": reason, "error": "blocked_by_policy", "messages_to_user": [reason]}


def reason_of(verdict: PolicyVerdict, ability_id: str) -> str:
    """Why a call is denied or asked about, for the person."""
    rule_reason = verdict.rule.reason or f"rule {verdict.number} of the policy says {verdict.rule.decision}"
    if verdict.doubt:
        command = one_line(verdict.doubt)
        return f"It cannot be known whether rule {verdict.number} applies ({rule_reason}): {command}"
    return verdict.rule.reason or f"{rule_reason} to `{ability_id}`"


def guarded_call(event: PreAbilityCall, policy: Policy) -> GuardedCall:
    """What the rules of a policy look at in a call."""
    tool_input = None if isinstance(event.tool_input, UnsetType) else event.tool_input

    def field(name: str) -> Any:
        value = getattr(event, name)
        if name == "operation_key" and isinstance(value, UnsetType):
            return event.ability_id  # the key of a low-level ability is its id; a caller may leave it out
        return None if isinstance(value, UnsetType) else value

    return GuardedCall(
        field=field,
        environments=frozenset(environments_of(event, tool_input)),
        paths=frozenset(_paths(tool_input, event.project_root) if any(rule.path for rule in policy.rules) else ()),
        shell=_shell_call(event, tool_input) if any(any(rule.commands) for rule in policy.rules) else ShellCall(),
    )


def _shell_call(event: PreAbilityCall, tool_input: Any) -> ShellCall:
    """The commands of the call, as a shell would run them."""
    from samuel.shell import commands  # loads the parser: only for policies about commands

    readings = [commands(line) for line in command_lines(tool_input, event.ability_id)]
    opaque = tuple(part for reading in readings for part in reading.opaque)
    if not readings and event.ability_id == SHELL:
        opaque = (Opaque("the input has no command that could be read", one_line(str(tool_input), 200)),)
    shell_commands = tuple(command for reading in readings for command in reading.commands)
    paths = CommandPaths(event.project_root, directories_of(event, tool_input))
    paths.follow(shell_commands)
    return ShellCall(shell_commands, opaque, paths.named_by, paths.covers)


def _paths(tool_input: Any, root: str) -> Iterator[str]:
    """Everything in the input that could be a path, from the project's root; also the targets of links."""
    words = {word for _, text in texts(tool_input) for word in (text, *_WORD_BREAK.split(text)) if word}
    return ProjectPaths(root).named_by(words)
