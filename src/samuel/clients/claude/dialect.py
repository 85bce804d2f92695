"""Claude Code. Run with 2.1.326."""

from __future__ import annotations

from typing import Any

from samuel.clients.dialect.answers import as_json, claude_fields, hook_output, messages, suggestions
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import (
    CONFIG_CHANGE,
    DENIABLE,
    END,
    NOTIFICATION,
    POST,
    PRE,
    PRE_COMPACT,
    PROMPT,
    START,
    STOP,
    SUBAGENT_STOP,
)
from samuel.clients.dialect.limits import CONTEXT, DENY, EVENT, limited
from samuel.clients.dialect.payload import mapping_or_nothing, session_fields, text_or_nothing
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload, PayloadError
from samuel.clients.dialect.tools import SHELL, Tool, common_name, tool_table

FAILURE = "PostToolUseFailure"
FAMILY_EVENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": PRE,
    "PostToolUse": POST,
    FAILURE: POST,
    "Stop": STOP,
    "SessionEnd": END,
}
"""The events that the clients with Claude Code's hooks have in common."""
EVENTS = {
    **FAMILY_EVENTS,
    "SubagentStop": SUBAGENT_STOP,
    "Notification": NOTIFICATION,
    "PreCompact": PRE_COMPACT,
    "ConfigChange": CONFIG_CHANGE,
}
TOOLS = tool_table(
    shell={
        "Bash": "command",
        "PowerShell": "command",
        "Monitor": Tool(SHELL, command="command"),  # a shell in the background; it can watch a socket instead
    },
    edit={"Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"},
    write={"Write": "file_path"},
    read={"Read": "file_path"},
    search={"Glob": "path", "Grep": "path", "LS": "path"},
    fetch={"WebFetch": "url", "WebSearch": ""},
    task={"Task": "", "Agent": ""},
)


def result(native_event: str, payload: Payload) -> dict[str, Any]:
    """How a call ended and what came out of it."""
    response = payload.get("tool_response")
    if response is None:
        raise PayloadError("the payload has no `tool_response`")
    parts = mapping_or_nothing(payload, "tool_response")
    status = "failure" if parts.get("interrupted") is True or parts.get("is_error") is True else "success"
    if isinstance(parts.get("stdout"), str):
        streams = [parts["stdout"], text_or_nothing(parts, "stderr")]
        return {"status": status, "tool_output": "\n".join(filter(None, streams))}
    return {"status": status, "tool_output": response}


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    fields = claude_fields(native_event, event, reply)
    if event in DENIABLE and event != PRE and reply.decision == "deny":
        return as_json({"decision": "block", "reason": reply.reason, **fields})
    if event == PRE:
        return as_json({"systemMessage": messages(reply.result), **_permission(native_event, reply)})
    if native_event == "PostToolUse":
        new_output = reply.result.get("tool_output")
        hints = suggestions(reply.result)
        fields |= hook_output(native_event, additionalContext=hints, updatedToolOutput=new_output)
    return as_json(fields)


def _permission(native_event: str, reply: ClientReply) -> dict[str, Any]:
    """A rewrite needs no allow: without a decision Claude Code goes on with the new input as with its own."""
    decided = reply.decision in ("deny", "ask")
    return hook_output(
        native_event,
        permissionDecision=reply.decision if decided else "",
        permissionDecisionReason=reply.reason if decided else "",
        updatedInput=reply.result.get("tool_input") if reply.decision != "deny" else None,
        additionalContext=suggestions(reply.result),
    )


def output(tool_name: str, tool_output: Any) -> Any:
    """A rewritten output in the shape of its tool: Claude Code drops one in another shape."""
    if isinstance(tool_output, str) and common_name(TOOLS, tool_name) == SHELL:
        return {"stdout": tool_output, "stderr": "", "interrupted": False, "isImage": False}
    return tool_output


CLIENT = Client(
    name="claude",
    title="Claude Code",
    events=EVENTS,
    tools=TOOLS,
    limits={
        (STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
        (END, EVENT): limited("Claude Code cancels a hook that is still running when it ends"),
        (END, CONTEXT): limited("suggestions are not read when the session is over"),
        (SUBAGENT_STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
        **dict.fromkeys(
            [(event, CONTEXT) for event in (NOTIFICATION, PRE_COMPACT, CONFIG_CHANGE)],
            limited("messages are shown to the user; suggestions are not read"),
        ),
        (NOTIFICATION, EVENT): limited("Claude Code notifies a user who is there, not in an unattended run"),
        (CONFIG_CHANGE, DENY): limited("a change of managed settings takes effect all the same"),
    },
    form=form,
    result=result,
    failure=FAILURE,
    more=session_fields,
    asks=("PreToolUse",),
    exit_code_denies=(),
    output=output,
)
