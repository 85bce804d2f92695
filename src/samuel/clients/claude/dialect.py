"""Claude Code. Run with 2.1.197."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.clients.dialect import hints, json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client, PayloadError
from samuel.clients.dialect.limits import CONTEXT, EVENT, limited
from samuel.clients.dialect.payload import (
    check_event,
    common_fields,
    duration_ms,
    mapping_or_nothing,
    text,
    text_or_nothing,
    tool_call,
)
from samuel.clients.dialect.tools import (
    EDIT,
    FETCH,
    READ,
    SEARCH,
    SHELL,
    TASK,
    WRITE,
    Tool,
    common_name,
    on_file,
    shell,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "claude"
TITLE = "Claude Code"
FAILED = "PostToolUseFailure"
EVENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": PRE,
    "PostToolUse": POST,
    FAILED: POST,
    "Stop": STOP,
    "SessionEnd": END,
}
TOOLS = {
    "Bash": shell(),
    "PowerShell": shell(),
    "Monitor": Tool(SHELL, command="command"),  # a shell in the background; it can watch a socket instead
    "Edit": on_file(EDIT, "file_path"),
    "MultiEdit": on_file(EDIT, "file_path"),
    "NotebookEdit": on_file(EDIT, "notebook_path"),
    "Write": on_file(WRITE, "file_path"),
    "Read": on_file(READ, "file_path"),
    "Glob": Tool(SEARCH, path="path"),
    "Grep": Tool(SEARCH, path="path"),
    "LS": Tool(SEARCH, path="path"),
    "WebFetch": Tool(FETCH, {"url": "url"}),
    "WebSearch": Tool(FETCH),
    "Task": Tool(TASK),
    "Agent": Tool(TASK),
}
LIMITS = {
    (STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
    (END, EVENT): limited("Claude Code cancels a hook that is still running when it ends"),
    (END, CONTEXT): limited("suggestions are not read when the session is over"),
}


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    check_event(native_event, payload)
    context = {"client": NAME, "client_event": native_event, **common_fields(payload)}
    event = EVENTS[native_event]
    if event == PROMPT:
        return {**context, "user_message": text(payload, "prompt")}
    if event in (PRE, POST):
        context |= tool_call(TOOLS, text(payload, "tool_name"), payload.get("tool_input"))
    if event == POST:
        context |= {**duration_ms(payload, "duration_ms"), **result(native_event, payload)}
    if event == STOP and (message := text_or_nothing(payload, "last_assistant_message")):
        context["last_message"] = message
    return context


def result(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """How a call ended and what came out of it."""
    if native_event == FAILED:
        return {"status": "failure", "tool_output": payload.get("error", "")}
    response = payload.get("tool_response")
    if response is None:
        raise PayloadError("the payload has no `tool_response`")
    parts = mapping_or_nothing(payload, "tool_response")
    status = "failure" if parts.get("interrupted") is True or parts.get("is_error") is True else "success"
    if isinstance(parts.get("stdout"), str):
        streams = [parts["stdout"], text_or_nothing(parts, "stderr")]
        return {"status": status, "tool_output": "\n".join(filter(None, streams))}
    return {"status": status, "tool_output": response}


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    event = EVENTS[native_event]
    reply = json_answer.settled(TITLE, reply, can_ask=event == PRE)
    fields = json_answer.to_user_and_model(native_event, reply)
    if event == PROMPT and reply.decision == "deny":
        return json_answer.as_json({"decision": "block", "reason": reply.reason, **fields})
    if event == PRE:
        return json_answer.as_json({**fields, "hookSpecificOutput": _permission(native_event, reply)})
    if native_event == "PostToolUse":
        fields["hookSpecificOutput"] = json_answer.specific(
            native_event,
            additionalContext=hints.suggestions(reply.result),
            updatedToolOutput=reply.result.get("tool_output"),
        )
    if event in (STOP, END):
        del fields["hookSpecificOutput"]
    return json_answer.as_json({**fields, **json_answer.go_on(reply)} if event == STOP else fields)


def _permission(native_event: str, reply: ClientReply) -> dict[str, Any]:
    """A rewrite needs no allow: without a decision Claude Code goes on with the new input as with its own."""
    rest = {
        "updatedInput": reply.result.get("tool_input") if reply.decision != "deny" else None,
        "additionalContext": hints.suggestions(reply.result),
    }
    if reply.decision not in ("deny", "ask"):
        return json_answer.specific(native_event, **rest)
    return json_answer.specific(
        native_event, permissionDecision=reply.decision, permissionDecisionReason=reply.reason, **rest
    )


def output(tool_name: str, tool_output: Any) -> Any:
    """A rewritten output in the shape of its tool: Claude Code drops one in another shape."""
    if isinstance(tool_output, str) and common_name(TOOLS, tool_name) == SHELL:
        return {"stdout": tool_output, "stderr": "", "interrupted": False, "isImage": False}
    return tool_output


CLIENT = Client(
    name=NAME,
    title=TITLE,
    events=EVENTS,
    translate=translate,
    answer=answer,
    output=output,
    tools=TOOLS,
    limits=LIMITS,
)
