"""GitHub Copilot CLI. Run with 1.0.102. A denial by exit code loses its reason, so each one is JSON on stdout."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from samuel.clients.dialect import json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client
from samuel.clients.dialect.limits import ASK, CONTEXT, DENY, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import common_fields, mapping, text, tool_call
from samuel.clients.dialect.tools import EDIT, FETCH, READ, SEARCH, TASK, WRITE, Tool, on_file, shell, shell_input

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "copilot"
TITLE = "Copilot CLI"
FAILED = "postToolUseFailure"
EVENTS = {
    "sessionStart": START,
    "userPromptSubmitted": PROMPT,
    "preToolUse": PRE,
    "postToolUse": POST,
    FAILED: POST,
    "agentStop": STOP,
    "sessionEnd": END,
}
TOOLS = {
    "bash": shell(),
    "powershell": shell(),
    "write_bash": shell_input("input"),
    "write_powershell": shell_input("input"),
    "edit": on_file(EDIT, "path"),
    "create": on_file(WRITE, "path"),
    "view": on_file(READ, "path"),
    "glob": Tool(SEARCH, path="path"),
    "grep": Tool(SEARCH, path="path"),
    "web_fetch": Tool(FETCH, {"url": "url"}),
    "task": Tool(TASK),
}
NOT_READ = "Copilot CLI reads no answer to this event"
LIMITS = {
    (START, CONTEXT): limited(NOT_READ),
    (PROMPT, DENY): lost(f"{NOT_READ}, so a prompt cannot be denied"),
    (PROMPT, ASK): lost(f"{NOT_READ}, so a prompt cannot be denied"),
    (PROMPT, CONTEXT): limited(NOT_READ),
    (PRE, ASK): limited("Copilot CLI asks the person; with `--allow-all-tools` or `-p` no person may be asked"),
    (PRE, REWRITE): limited("Copilot CLI takes a rewrite together with its allow, which skips its own prompt"),
    (PRE, CONTEXT): limited("messages and suggestions are not shown"),
    (POST, EVENT): limited("Copilot CLI tells no call id; the exit code of a command is read from its output"),
    (POST, OUTPUT): lost("Copilot CLI takes no other output from a command hook"),
    (POST, CONTEXT): limited(NOT_READ),
    (STOP, CONTEXT): limited("messages and suggestions are not shown"),
    (END, CONTEXT): limited(NOT_READ),
}
_FIELDS = {
    "sessionId": "session_id",
    "transcriptPath": "transcript_path",
    "cwd": "cwd",
    "toolCallId": "call_id",
    "stop_hook_active": "stop_hook_active",
}
_STATUS = {"success": "success", "denied": "skipped", "rejected": "skipped"}
_EXIT_CODE = re.compile(r"completed with exit code (-?\d+)>\s*$")


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    context = {"client": NAME, "client_event": native_event, **common_fields(payload, _FIELDS)}
    event = EVENTS[native_event]
    if event == PROMPT:
        return {**context, "user_message": text(payload, "prompt")}
    if event in (PRE, POST):
        context |= tool_call(TOOLS, text(payload, "toolName"), payload.get("toolArgs"), mcp_name)
    if native_event == FAILED:
        context |= {"status": "failure", "tool_output": payload.get("error", "")}
    elif event == POST:
        context |= _result(mapping(payload, "toolResult"))
    return context


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `server-tool`, at the last hyphen; no tool of Copilot CLI itself has one."""
    server, hyphen, tool = tool_name.rpartition("-")
    return f"mcp:{server}/{tool}" if hyphen and server and tool else ""


def _result(tool_result: Mapping[str, Any]) -> dict[str, Any]:
    """How a call ended and what came out of it."""
    output = text(tool_result, "textResultForLlm")
    status = _STATUS.get(text(tool_result, "resultType"), "failure")
    exit_code = _EXIT_CODE.search(output)
    if status == "success" and exit_code and exit_code[1] != "0":
        status = "failure"
    return {"status": status, "tool_output": output}


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    event = EVENTS[native_event]
    reply = json_answer.settled(TITLE, reply, can_ask=event == PRE)
    if event == PROMPT and reply.decision == "deny":
        return json_answer.blocked(reply.reason)
    if event == STOP:
        return json_answer.as_json(json_answer.go_on(reply))
    if event != PRE:
        return json_answer.as_json({})
    tool_input = reply.result.get("tool_input") if reply.decision != "deny" else None
    if reply.decision in ("deny", "ask"):
        fields = {"permissionDecision": reply.decision, "permissionDecisionReason": reply.reason}
        return json_answer.as_json({**fields, "modifiedArgs": tool_input})
    return json_answer.as_json({"permissionDecision": "allow", "modifiedArgs": tool_input} if tool_input else {})


CLIENT = Client(
    name=NAME, title=TITLE, events=EVENTS, translate=translate, answer=answer, tools=TOOLS, limits=LIMITS
)
