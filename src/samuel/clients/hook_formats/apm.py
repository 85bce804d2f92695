"""Hook files of APM packages (Microsoft's package manager for agents), as settings in the format of Claude Code.

A package has any number of files below `.apm/hooks` and `hooks`. A file may leave out the outer `hooks`, may have
commands without a group around them, and may name events and fields as Copilot does. APM itself writes all of this
into the settings of Claude Code in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

MANIFEST = "apm.yml"
DIRECTORIES = (".apm/hooks", "hooks")  # of a file that is in both, the first counts
_EVENTS = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "agentStop": "Stop",
    "AgentStop": "Stop",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "notification": "Notification",
}


def hook_files(package: Path) -> Iterator[str]:
    """The hook files of a package, relative to it; none if it is not a package of APM."""
    if not (package / MANIFEST).is_file():
        return
    stems: set[str] = set()
    for directory in DIRECTORIES:
        for file in sorted((package / directory).glob("*.json")):
            if file.stem not in stems:
                stems.add(file.stem)
                yield f"{directory}/{file.name}"


def as_settings(document: Mapping[str, Any], file: Path, package: Path) -> dict[str, Any]:
    """The hooks of a file as Claude Code has them; what has another shape stays, to be refused with its place."""
    hooks = document.get("hooks", {key: value for key, value in document.items() if isinstance(value, list)})
    if not isinstance(hooks, dict):
        return {"hooks": hooks}
    by_event: dict[str, Any] = {}
    for event, entries in hooks.items():
        name = _EVENTS.get(str(event), str(event))
        groups = [_group(entry, file, package) for entry in entries] if isinstance(entries, list) else entries
        both = name in by_event and isinstance(groups, list)
        by_event[name] = [*by_event[name], *groups] if both else groups
    return {"hooks": by_event}


def _group(entry: Any, file: Path, package: Path) -> Any:
    if not isinstance(entry, dict):
        return entry
    if isinstance(entry.get("hooks"), list):
        return {**entry, "hooks": [_command(hook, file, package) for hook in entry["hooks"]]}
    matcher = {"matcher": entry["matcher"]} if "matcher" in entry else {}
    return {**matcher, "hooks": [_command(entry, file, package)]}


def _command(hook: Any, file: Path, package: Path) -> Any:
    if not isinstance(hook, dict):
        return hook
    fields = {key: value for key, value in hook.items() if key not in ("bash", "timeoutSec", "matcher")}
    command = hook.get("command", hook.get("bash"))
    if isinstance(command, str) and command.startswith("./"):
        # `./hooks/x` in a directory of hooks is meant from the package, anything else from the file.
        base = package if command.startswith("./hooks/") else file.parent
        program, space, rest = command.partition(" ")
        command = f"{quote(str(base / program.removeprefix('./')))}{space}{rest}"
    timeout = hook.get("timeoutSec", hook.get("timeout"))
    return {**fields, "command": command, **({"timeout": timeout} if timeout is not None else {})}
