"""The entries of Cursor's hooks.json: by event, a list of commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from samuel.clients.cursor.dialect import MCP_EVENTS, SHELL_EVENTS
from samuel.clients.cursor.hook_format import FORMAT
from samuel.clients.hook_formats.client_hook import ClientHook
from samuel.clients.hook_formats.entry import (
    Entry,
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
from samuel.clients.hook_formats.matcher import ALL, CLIENT_COMMAND, problem

STATUS = {"postToolUse": ["success"], "postToolUseFailure": ["failure"], "afterFileEdit": ["success"]}
TOOL_EVENTS = ("preToolUse", "postToolUse", "postToolUseFailure")
NO_CONTENT = "Cursor gives it the content of the file, which the calls of other agents do not have"


def read_entries(file: ImportedFile, hooks: Mapping[str, list[Any]]) -> Iterator[Entry]:
    """The entries in the order of the file."""
    for client_event, entries in hooks.items():
        for where, entry in objects(entries, f"hooks.{client_event}"):
            yield _entry(file, client_event, entry, where)


def _entry(file: ImportedFile, client_event: str, entry: Mapping[str, Any], where: str) -> Entry:
    event, matcher = FORMAT.events.get(client_event, ""), matcher_text(entry, where)
    kind = entry.get("type", "command")
    if kind != "command":
        return other_kind(kind, file, client_event, event, matcher)
    line = command_text(entry, where)
    directories = {} if file.of_user else {FORMAT.project_variable: str(file.base)}
    # Cursor runs the user's hooks in ~/.cursor, those of a project in its root.
    started = f"cd {quote(str(file.path.parent))} || exit 1\n{line}" if file.of_user else line
    command = hook_command(started, [], "sh", directories, file.base)
    hook = ClientHook(
        name="",
        client=file.client,
        client_event=client_event,
        event=event,
        command=line,
        words=command.words,
        program="" if file.of_user else command.program,
        runs=() if file.of_user else command.runs,
        matcher=matcher,
        match=_match(client_event, matcher),
        timeout=seconds(entry.get("timeout"), where),
        blocking=entry.get("failClosed") is True,
        left_out=first_reason(
            NO_CONTENT if client_event == "beforeReadFile" else "", no_event(client_event, event), problem(matcher)
        ),
    )
    return Entry(hook, script_name(command, line))


def _match(client_event: str, matcher: str) -> dict[str, Any]:
    status = {"status": STATUS[client_event]} if client_event in STATUS else {}
    if client_event in SHELL_EVENTS:
        on_command = {CLIENT_COMMAND: {"matcher": matcher}} if matcher not in ALL else {}
        return {"ability_id": ["shell", "Shell"], **on_command}
    if client_event in MCP_EVENTS:
        return {"ability_id": ["mcp:*"], **tool_match(FORMAT, matcher)}
    if client_event == "afterFileEdit":
        return {"ability_id": ["edit", "write"], **status}
    return {**tool_match(FORMAT, matcher), **status} if client_event in TOOL_EVENTS else {}
