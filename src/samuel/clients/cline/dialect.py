"""Cline. Run with 3.0.65. One executable file per event; a denial of one call ends the whole run."""

from __future__ import annotations

import json
from typing import Any

from samuel.clients.dialect.answers import messages_and_suggestions, whole
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import END, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, DENY, EVENT, FOLLOW_UP, OUTPUT, limited, lost
from samuel.clients.dialect.payload import (
    common_fields,
    duration_ms,
    mapping,
    mapping_or_nothing,
    text,
    text_or_nothing,
    tool_call,
)
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload
from samuel.clients.dialect.tools import COMMANDS, EDIT, Tool, tool_table

NOT_READ = "Cline does not wait for this hook and reads no answer"


def context(native_event: str, event: str, payload: Payload) -> dict[str, Any]:
    """The context of a hook's payload."""
    fields = common_fields(payload, {"taskId": "session_id"})
    if text_or_nothing(payload, "parent_agent_id"):
        fields["subagent"] = text_or_nothing(payload, "agent_id")
    if event == PROMPT:
        return {**fields, "user_message": text(mapping(payload, "userPromptSubmit"), "prompt")}
    if event not in (PRE, POST):
        return fields
    # `preToolUse` has the input as text; `tool_call` has it as it is.
    call = mapping(payload, "tool_call" if event == PRE else "tool_result")
    fields |= tool_call(CLIENT.tools, text(call, "name"), mapping(call, "input"), mcp_name)
    fields |= common_fields(call, {"id": "call_id"})
    return {**fields, **_result(payload, call)} if event == POST else fields


def _result(payload: Payload, call: Payload) -> dict[str, Any]:
    """How a call ended and what came out of it."""
    told_failure = mapping_or_nothing(payload, "postToolUse").get("success") is False
    failed = bool(call.get("error")) or told_failure or _command_failed(call.get("output"))
    output = call.get("error") if failed and call.get("error") else call.get("output", "")
    return {
        "status": "failure" if failed else "success",
        "tool_output": output,
        **duration_ms(call, "durationMs"),
    }


def _command_failed(output: object) -> bool:
    """Is there a command that failed in what `run_commands` returns? The call itself is a success then."""
    if isinstance(output, str) and output.startswith("["):
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            return False
    entries = output if isinstance(output, list) else ()
    return any(isinstance(entry, dict) and entry.get("success") is False for entry in entries)


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `server__tool`."""
    server, joint, tool = tool_name.partition("__")
    return f"mcp:{server}/{tool}" if joint and server and tool else ""


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event. Without `cancel` some versions take the answer for a broken one."""
    if event in (PRE, PROMPT) and reply.decision == "deny":
        return whole({"cancel": True, "errorMessage": reply.reason})
    fields: dict[str, Any] = {}
    if event in (PRE, POST):
        fields["contextModification"] = messages_and_suggestions(reply.result)
        fields["overrideInput"] = reply.result.get("tool_input") if event == PRE else None
    return whole({"cancel": False, **{key: value for key, value in fields.items() if value}})


LIMITS = {
    **dict.fromkeys([(event, CONTEXT) for event in (START, PROMPT, STOP, END)], limited(NOT_READ)),
    **dict.fromkeys([(PROMPT, DENY), (PROMPT, ASK)], lost(f"{NOT_READ}, so a prompt cannot be denied")),
    (PRE, DENY): limited("Cline ends its whole run when a hook denies one call, and the model is not told why"),
    (PRE, ASK): limited("a hook cannot ask in Cline, so Samuel denies, which ends its whole run"),
    (POST, OUTPUT): lost("Cline takes no other output from a hook"),
    (STOP, EVENT): limited("Cline fires it for a task that is completed, not at the end of each answer"),
    (STOP, FOLLOW_UP): lost(NOT_READ),
}

CLIENT = Client(
    name="cline",
    title="Cline",
    events={
        "TaskStart": START,
        "TaskResume": START,
        "UserPromptSubmit": PROMPT,
        "PreToolUse": PRE,
        "PostToolUse": POST,
        "TaskComplete": STOP,
        "SessionShutdown": END,
    },
    tools=tool_table(
        shell={"run_commands": COMMANDS, "execute_command": "command"},
        edit={"editor": "path", "replace_in_file": "path", "apply_patch": Tool(EDIT, {"patch": "input"})},
        write={"write_to_file": "path"},
        read={"read_file": "path", "read_files": ""},
        search={"search_codebase": "", "search_files": "path", "list_files": "path"},
        fetch={"fetch_web_content": "", "web_fetch": "url"},
        task={"spawn_agent": ""},
    ),
    limits=LIMITS,
    form=form,
    context=context,
    names_event=False,
    mcp=mcp_name,
    exit_code_denies=(),
)
