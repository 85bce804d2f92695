"""PreAbilityCall: denies calls, or asks for a confirmation, by the rules in its YAML.

It sees the final input, after all hooks that rewrite it. If it fails, the call is denied.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UnsetType

from samuel.events import PreAbilityCall
from samuel.shell import Opaque
from samuel.shipped.event_fields import config_of, environment, extra_field, one_line
from samuel.shipped.policy_guard.command_paths import CommandPaths, ProjectPaths
from samuel.shipped.policy_guard.command_rules import ShellCall
from samuel.shipped.policy_guard.rules import ALLOW, GuardedCall, Policy, PolicyVerdict, judge

ENVIRONMENT_KEYS = ("environment", "env", "target_environment")  # by which an input names its environment
COMMAND_KEYS = ("command", "cmd", "script", "code", "args")  # here a text of several lines names paths too
DIRECTORY_KEYS = ("cwd", "workdir", "working_directory", "directory", "dir_path")  # where a command runs
MAX_DIRECTORIES = 4

# A path in a command line ends where a shell would end it.
_WORD_BREAK = re.compile(r"""[\s"'`=;|&<>()]+""")
LINE_KEYS = ("command", "cmd")
ARGUMENT_KEYS = ("args", "arguments", "argv")  # beside a text at one of these: more words of the same command
LIST_KEYS = ("commands",)
SHELL = "shell"  # the name that every agent's shell tool has in Samuel


def hook(event: PreAbilityCall) -> dict[str, Any]:
    policy = config_of(event, Policy)
    verdict = judge(policy, _call(event, policy))
    if verdict is None:
        return {}
    if verdict.decision == ALLOW:
        return {"logs": [{"level": "info", "message": f"rule {verdict.number} allows `{event.ability_id}`"}]}
    reason = _reason(verdict, event.ability_id)
    if verdict.decision == "ask":
        return {"decision": "ask", "reason": reason}
    return {"decision": "deny", "reason": reason, "error": "blocked_by_policy", "messages_to_user": [reason]}


def _reason(verdict: PolicyVerdict, ability_id: str) -> str:
    rule_reason = verdict.rule.reason or f"rule {verdict.number} of the policy says {verdict.rule.decision}"
    if verdict.doubt:
        command = one_line(verdict.doubt)
        return f"It cannot be known whether rule {verdict.number} applies ({rule_reason}): {command}"
    return verdict.rule.reason or f"{rule_reason} to `{ability_id}`"


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
    paths = CommandPaths(event.project_root, _directories(event, tool_input))
    paths.follow(shell_commands)
    return ShellCall(shell_commands, opaque, paths.named_by, paths.covers)


def _directories(event: PreAbilityCall, tool_input: Any) -> list[str]:
    """Where the call says that its command runs."""
    names = [extra_field(event, "cwd"), *(text for key, text in _texts(tool_input) if key in DIRECTORY_KEYS)]
    return [name for name in names if isinstance(name, str) and name and "\0" not in name][:MAX_DIRECTORIES]


def _environments(event: PreAbilityCall, tool_input: Any) -> Iterator[str]:
    names = [environment(), *(extra_field(event, key) for key in ENVIRONMENT_KEYS)]
    names += [text for key, text in _texts(tool_input) if key in ENVIRONMENT_KEYS]
    return (name for name in names if isinstance(name, str) and name)


def _paths(tool_input: Any, root: str) -> Iterator[str]:
    """Everything in the input that could be a path, from the project's root; also the targets of links."""
    words = {word for _, text in _texts(tool_input) for word in (text, *_WORD_BREAK.split(text)) if word}
    return ProjectPaths(root).named_by(words)


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


def command_lines(tool_input: Any, ability_id: str) -> Iterator[str]:
    """The texts that a shell gets: of the keys `command`, `cmd` and `commands`, at any depth of the input.

    A list at `command` or `cmd` is one command, word for word; at `commands`, it is several command lines. What is
    at `args` beside a command belongs to it.
    """
    if ability_id == SHELL and isinstance(tool_input, str):
        yield tool_input
    queue = [tool_input]
    while queue:
        value = queue.pop(0)
        if isinstance(value, Mapping):
            arguments = [_arguments(value[key]) for key in ARGUMENT_KEYS if key in value]
            for key, item in value.items():
                yield from (
                    " ".join([line, *arguments]) if key in LINE_KEYS else line for line in _lines(key, item)
                )
                queue.append(item)
        elif isinstance(value, (list, tuple)):
            queue += value


def _arguments(value: Any) -> str:
    """The arguments as a part of a command line: a list is words, a text is as a shell would read it."""
    if isinstance(value, (list, tuple)):
        return shlex.join(str(item) for item in value)
    return value if isinstance(value, str) else ""


def _lines(key: object, value: Any) -> Iterator[str]:
    texts = [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
    if isinstance(value, str) and key in (*LINE_KEYS, *LIST_KEYS):
        yield value
    elif texts and key in LINE_KEYS:
        yield shlex.join(texts)
    elif key in LIST_KEYS:
        yield from texts
