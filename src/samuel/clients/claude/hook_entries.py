"""The entries of Claude Code's and Codex's hooks: by event, groups with a matcher, each with its hooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from samuel.clients.claude.hook_format import REASON, SOURCE
from samuel.clients.hook_formats.client_hook import ClientHook
from samuel.clients.hook_formats.entry import (
    Entry,
    EntryProblem,
    ImportedFile,
    command_text,
    first_reason,
    hook_command,
    matcher_text,
    no_event,
    objects,
    other_kind,
    script_name,
    seconds,
    tool_match,
)
from samuel.clients.hook_formats.hook_format import HookFormat
from samuel.clients.hook_formats.matcher import matches, problem
from samuel.clients.table import HOOK_FORMATS
from samuel.events import names

TOOL_EVENTS = (names.PRE_ABILITY_CALL, names.POST_ABILITY_CALL)
OCCASIONS = {"SessionStart": SOURCE, "SessionEnd": REASON}  # what the matcher of these events is compared with
STATUS = {"PostToolUse": ["success"], "PostToolUseFailure": ["failure"]}
SHELLS = {"": "sh", "bash": "bash"}


def read_entries(file: ImportedFile, hooks: Mapping[str, list[Any]]) -> Iterator[Entry]:
    """The entries in the order of the file."""
    for event, groups in hooks.items():
        for where, group in objects(groups, f"hooks.{event}"):
            matcher = matcher_text(group, where)
            for place, entry in objects(group.get("hooks"), f"{where}.hooks"):
                yield _entry(file, event, matcher, entry, place)


def _entry(file: ImportedFile, client_event: str, matcher: str, entry: Mapping[str, Any], where: str) -> Entry:
    hook_format = HOOK_FORMATS[file.client]
    event = hook_format.events.get(client_event, "")
    kind = entry.get("type", "command")
    if kind != "command":
        return other_kind(kind, file, client_event, event, matcher)
    line, arguments = command_text(entry, where), _arguments(entry, where)
    variables = {"CLAUDE_PLUGIN_ROOT": file.plugin, "PLUGIN_ROOT": file.plugin} if file.plugin else {}
    # The project's directory is known when a hook of the user is called, and not before.
    directories = variables if file.of_user else {**variables, hook_format.project_variable: str(file.base)}
    shell = SHELLS.get(str(entry.get("shell", "")), "")
    command = hook_command(line, arguments, shell or "sh", directories, file.base)
    hook = ClientHook(
        name="",
        client=file.client,
        client_event=client_event,
        event=event,
        command=command.text,
        words=command.words,
        program="" if file.of_user else command.program,
        runs=() if file.of_user else command.runs,
        env=variables,
        matcher=matcher,
        match=_match(hook_format, client_event, event, matcher),
        timeout=seconds(entry.get("timeout"), where),
        left_out=first_reason(
            no_event(client_event, event),
            _beyond_us(entry, shell),
            problem(matcher) if event in TOOL_EVENTS or client_event in OCCASIONS else "",
            _other_occasion(client_event, matcher),
        ),
    )
    return Entry(hook, script_name(command, line))


def _arguments(entry: Mapping[str, Any], where: str) -> list[str]:
    arguments = entry.get("args", [])
    if not isinstance(arguments, list) or not all(
        isinstance(word, str) and "\0" not in word for word in arguments
    ):
        raise EntryProblem(f"`{where}.args` must be an array of text")
    return arguments


def _match(hook_format: HookFormat, client_event: str, event: str, matcher: str) -> dict[str, Any]:
    if event not in TOOL_EVENTS:
        return {}
    # Without an event for failures, PostToolUse is about them as well.
    status = STATUS.get(client_event) if "PostToolUseFailure" in hook_format.events else None
    return {**tool_match(hook_format, matcher), **({"status": status} if status else {})}


def _beyond_us(entry: Mapping[str, Any], shell: str) -> str:
    """Why an entry cannot be run as its agent would."""
    if entry.get("if"):
        return "it has a condition (`if`) in the permission rules of its agent, which Samuel does not read"
    if entry.get("async") is True or entry.get("asyncRewake") is True:
        return "it runs in the background (`async`), and Samuel ends a hook with its call"
    return "" if shell else f"it is for the shell `{entry.get('shell')}`"


def _other_occasion(client_event: str, matcher: str) -> str:
    occasion = OCCASIONS.get(client_event, "")
    if not occasion or problem(matcher) or matches(matcher, [occasion]):
        return ""
    return f"its matcher `{matcher}` leaves out `{occasion}`, which is what Samuel reports"
