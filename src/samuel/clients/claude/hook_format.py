"""Hooks in the format of Claude Code, which Codex has too.

A hook reads one JSON object. Exit code 2 blocks, with the reason on stderr; any other code but 0 is a fault of the
hook. With exit code 0 it may print a JSON object: `hookSpecificOutput`, `decision`, `continue`, `systemMessage`.
A file has groups with a matcher by event, each with its hooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from samuel.clients.claude.dialect import EVENTS
from samuel.clients.dialect.events import POST, PRE, PROMPT, START, STOPS
from samuel.clients.hook_formats.entry import (
    Entry,
    ImportedFile,
    RawEntry,
    hook_entry,
    matcher_text,
    objects,
    rule_match,
    tool_match,
)
from samuel.clients.hook_formats.hook_format import (
    HookFormat,
    HookOutput,
    Payload,
    Result,
    blocks,
    common_input,
    denied,
    extra,
    meaning,
    parsed_answer,
    text,
    tool_call,
    verdict,
)
from samuel.clients.hook_formats.matcher import occasion_match, problem
from samuel.clients.hook_formats.permission_rule import rule_problem
from samuel.clients.table import HOOK_FORMATS

TOOL_NAMES: Mapping[str, tuple[str, ...]] = {
    "shell": ("Bash",),
    "edit": ("Edit", "MultiEdit"),
    "write": ("Write",),
    "read": ("Read",),
    "search": ("Grep", "Glob"),
    "fetch": ("WebFetch", "WebSearch"),
    "task": ("Task", "Agent"),
}
SOURCE, REASON = "startup", "other"  # of a session's start and end, where the caller does not give them
UNNAMED = "blocked without a reason"
# To defer is to leave the decision to a person.
PERMISSIONS = {"allow": "allow", "deny": "deny", "ask": "ask", "defer": "ask"}
DECISIONS = {"approve": "allow", "block": "deny"}
# The field that the matcher of these events is compared with, and its value where the caller does not give it.
OCCASIONS = {
    "SessionStart": ("source", SOURCE),
    "SessionEnd": ("reason", REASON),
    "SubagentStop": ("subagent", ""),
    "Notification": ("kind", ""),
    "PreCompact": ("trigger", ""),
    "ConfigChange": ("source", ""),
}
STATUS = {"PostToolUse": ["success"], "PostToolUseFailure": ["failure"]}
SHELLS = {"": "sh", "bash": "bash"}
REWAKE_TIMEOUT = 600.0  # seconds; Claude Code gives such a hook as long


def translate_payload(client_event: str, payload: Payload) -> dict[str, Any]:
    """What a hook of this event reads."""
    fields = extra(payload)
    return {
        "session_id": payload.get("session_id", ""),
        "transcript_path": text(fields.get("transcript_path")),
        "cwd": text(fields.get("cwd")) or payload.get("project_root", ""),
        "permission_mode": text(fields.get("permission_mode")) or "default",
        "hook_event_name": client_event,
        **_event_fields(client_event, payload, fields),
    }


def _event_fields(client_event: str, payload: Payload, fields: Mapping[str, Any]) -> dict[str, Any]:
    match client_event:
        case "PreToolUse":
            return tool_call(FORMAT, payload)
        case "PostToolUse":
            return {
                **tool_call(FORMAT, payload),
                "tool_response": _response(payload),
                **({"duration_ms": payload["duration_ms"]} if "duration_ms" in payload else {}),
            }
        case "PostToolUseFailure":
            error = payload.get("tool_output", payload.get("output_summary", ""))
            return {**tool_call(FORMAT, payload), "error": error, "is_interrupt": False}
        case "UserPromptSubmit":
            return {"prompt": payload.get("user_message", "")}
        case "Stop":
            return {"stop_hook_active": fields.get("stop_hook_active") is True}
        case "SessionStart":
            return {"source": text(fields.get("source")) or SOURCE}
        case "SubagentStop":
            return {
                "stop_hook_active": fields.get("stop_hook_active") is True,
                "agent_id": text(fields.get("subagent_id")),
                "agent_type": payload.get("subagent", ""),
                "agent_transcript_path": text(fields.get("subagent_transcript")),
                "last_assistant_message": payload.get("last_message", ""),
            }
        case "Notification":
            title = {"title": payload["title"]} if "title" in payload else {}
            return {
                "message": payload.get("message", ""),
                **title,
                "notification_type": payload.get("kind", ""),
            }
        case "PreCompact":
            return {
                "trigger": payload.get("trigger", ""),
                "custom_instructions": payload.get("instructions") or None,
            }
        case "ConfigChange":
            path = {"file_path": payload["path"]} if "path" in payload else {}
            return {"source": payload.get("source", ""), **path}
        case _:
            return {"reason": text(fields.get("reason")) or REASON}


def _response(payload: Payload) -> Any:
    """The output of a call. That of a shell is an object in this format, also where the caller gave text."""
    output = payload.get("tool_output", "")
    if payload.get("ability_id") == "shell" and isinstance(output, str):
        return {"stdout": output, "stderr": "", "interrupted": False}
    return output


def translate_output(client_event: str, payload: Payload, output: HookOutput) -> Result:
    """What the output of a hook means."""
    event = EVENTS[client_event]
    if blocks(output):
        return _blocked(event, output.stderr.strip() or UNNAMED)
    printed = output.stdout.strip()
    if not printed.startswith("{"):
        # For these two events the format adds plain text to the agent's context.
        adds = event in (START, PROMPT)
        return {"messages_to_user": [printed]} if printed and adds else {}
    return _answer(event, payload, parsed_answer(printed))


def _answer(event: str, payload: Payload, answer: Mapping[str, Any]) -> Result:
    specific = answer.get("hookSpecificOutput")
    specific = specific if isinstance(specific, Mapping) else {}
    messages = [text(answer.get("systemMessage")), text(specific.get("additionalContext"))]
    result: Result = {}
    reason = text(answer.get("reason"))
    if answer.get("continue") is False and event not in STOPS:  # at a stop it says: do stop
        result = _blocked(event, text(answer.get("stopReason")) or reason or UNNAMED)
    elif permission := specific.get("permissionDecision") if event == PRE else None:
        result = verdict(
            meaning(PERMISSIONS, permission, "decision"), text(specific.get("permissionDecisionReason"))
        )
    elif decision := answer.get("decision"):
        if meaning(DECISIONS, decision, "decision") == "deny":
            result = _blocked(event, reason or UNNAMED)
        elif event == PRE:
            result = verdict("allow", reason)
    rewritten = specific.get("updatedInput")
    if event == PRE and rewritten is not None and result.get("decision") != "deny":
        result["tool_input"] = common_input(payload, rewritten)
    for key in ("updatedToolOutput", "updatedMCPToolOutput"):
        if event == POST and specific.get(key) is not None:
            result["tool_output"] = specific[key]
    if texts := [*result.get("messages_to_user", ()), *filter(None, messages)]:
        result["messages_to_user"] = texts
    return result


def _blocked(event: str, reason: str) -> Result:
    """A block: a denial where there is something to deny, a message that keeps the session going at its stop."""
    return {"follow_up_messages": [reason]} if event in STOPS else denied(event, reason)


FORMAT = HookFormat(
    client="claude",
    events=EVENTS,
    translate_payload=translate_payload,
    translate_output=translate_output,
    tool_names=TOOL_NAMES,
    mcp_name="mcp__{server}__{tool}",
    project_variable="CLAUDE_PROJECT_DIR",
    project_files=(".claude/settings.json", ".claude/settings.local.json"),
    user_file=".claude/settings.json",
)


def read_entries(file: ImportedFile, hooks: Mapping[str, list[Any]]) -> Iterator[Entry]:
    """The entries in the order of the file."""
    hook_format = HOOK_FORMATS[file.client]
    for event, groups in hooks.items():
        for where, group in objects(groups, f"hooks.{event}"):
            matcher = matcher_text(group, where)
            for place, fields in objects(group.get("hooks"), f"{where}.hooks"):
                yield _entry(RawEntry(file, hook_format, event, matcher, fields, place))


def _entry(raw: RawEntry) -> Entry:
    plugin, shell = raw.file.plugin, SHELLS.get(str(raw.fields.get("shell", "")), "")
    has_matcher = raw.event in (PRE, POST) or raw.client_event in OCCASIONS
    rule = raw.fields.get("if") if raw.event in (PRE, POST) else None
    entry = hook_entry(
        raw,
        match={
            **_match(raw.hook_format, raw.client_event, raw.event, raw.matcher),
            **rule_match(raw.hook_format, rule),
        },
        left_out=(
            raw.no_event,
            rule_problem(rule) if rule else "",
            _beyond_us(raw, shell),
            problem(raw.matcher) if has_matcher else "",
        ),
        arguments=raw.fields.get("args", []),
        shell=shell or "sh",
        env={"CLAUDE_PLUGIN_ROOT": plugin, "PLUGIN_ROOT": plugin} if plugin else {},
        blocking=raw.fields.get("onFailure") == "block",
    )
    # What an `asyncRewake` hook would wake its agent with is its answer here, so it is waited for.
    wakes = raw.fields.get("asyncRewake") is True
    timeout = entry.hook.timeout or (REWAKE_TIMEOUT if wakes else None)
    background = raw.fields.get("async") is True and not wakes
    return entry._replace(hook=replace(entry.hook, background=background, timeout=timeout))


def _match(hook_format: HookFormat, client_event: str, event: str, matcher: str) -> dict[str, Any]:
    if client_event in OCCASIONS:
        return occasion_match(matcher, *OCCASIONS[client_event])
    if event not in (PRE, POST):
        return {}
    # Without an event for failures, PostToolUse is about them as well.
    status = STATUS.get(client_event) if "PostToolUseFailure" in hook_format.events else None
    return {**tool_match(hook_format, matcher), **({"status": status} if status else {})}


def _beyond_us(raw: RawEntry, shell: str) -> str:
    """Why an entry cannot be run as its agent would."""
    if raw.fields.get("if") and raw.event not in (PRE, POST):
        return "it has a condition (`if`) on an event that is not about a tool call"
    return "" if shell else f"it is for the shell `{raw.fields.get('shell')}`"
