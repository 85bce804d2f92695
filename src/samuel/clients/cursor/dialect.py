"""Cursor, by its documentation. `preToolUse` is about any tool, each `before…` event about one kind of tool."""

from __future__ import annotations

import json
from typing import Any

from samuel.clients.dialect.answers import BLOCKED, go_on, messages_and_suggestions, whole
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import DENIABLE, END, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import duration_ms, text, text_or_nothing
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload, PayloadError
from samuel.clients.dialect.tools import MCP, tool_table

FAILURE = "postToolUseFailure"
SHELL_EVENTS = ("beforeShellExecution", "afterShellExecution")
MCP_EVENTS = ("beforeMCPExecution", "afterMCPExecution")
EVENTS = {
    "sessionStart": START,
    "beforeSubmitPrompt": PROMPT,
    "preToolUse": PRE,
    "beforeShellExecution": PRE,
    "beforeMCPExecution": PRE,
    "beforeReadFile": PRE,
    "postToolUse": POST,
    FAILURE: POST,
    "afterShellExecution": POST,
    "afterMCPExecution": POST,
    "afterFileEdit": POST,
    "stop": STOP,
    "sessionEnd": END,
}
_STATUS = {"permission_denied": "skipped"}


def call(native_event: str, payload: Payload) -> tuple[str, Any]:
    """The tool and its input: the events of one kind of tool name neither."""
    if native_event in SHELL_EVENTS:
        return "Shell", {key: payload[key] for key in ("command", "cwd") if key in payload}
    if native_event == "beforeReadFile":
        return "Read", {"file_path": text(payload, "file_path")}
    if native_event == "afterFileEdit":
        return "Edit", {"file_path": text(payload, "file_path"), "edits": payload.get("edits")}
    tool_name, tool_input = text(payload, "tool_name"), _object(payload.get("tool_input"))
    if native_event not in MCP_EVENTS:
        return tool_name, tool_input
    server = text_or_nothing(payload, "server_name", "url", "command") or "unknown"
    return f"MCP:{server}/{tool_name}", tool_input


def _object(value: object) -> object:
    """The input of a call, which MCP events have as JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise PayloadError("`tool_input` is not JSON") from None


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `MCP:server/tool`; `MCP:tool` of `preToolUse` does not name the server."""
    if not tool_name.startswith("MCP:"):
        return ""
    name = tool_name.removeprefix("MCP:").strip()
    return f"{MCP}{name if '/' in name else f'unknown/{name}'}"


def result(native_event: str, payload: Payload) -> dict[str, Any]:
    """How a call ended and what came out of it. Only `postToolUseFailure` reports a failure."""
    duration = duration_ms(payload, "duration")
    if native_event == FAILURE:
        status = _STATUS.get(text_or_nothing(payload, "failure_type"), "failure")
        return {"status": status, "tool_output": payload.get("error_message", ""), **duration}
    keys = ("tool_output", "output", "result_json")
    output = next((payload[key] for key in keys if key in payload), "")
    return {"status": "success", "tool_output": output, **duration}


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event: an object, which may be empty."""
    fields: dict[str, Any] = {}
    if event == PROMPT and reply.decision == "deny":
        return whole({"continue": False, "user_message": reply.reason})
    if event == PRE and reply.decision in ("deny", "ask"):
        # Cursor 1.7 had camel case; later versions have snake case.
        reasons = dict.fromkeys(("user_message", "agent_message", "userMessage", "agentMessage"), reply.reason)
        fields = {"permission": reply.decision, **reasons}
    elif native_event == "preToolUse" and reply.result.get("tool_input") is not None:
        fields = {"permission": "allow", "updated_input": reply.result["tool_input"]}
    elif native_event in ("sessionStart", "postToolUse"):
        fields = {"additional_context": messages_and_suggestions(reply.result)}
    elif event == STOP:
        fields = {"followup_message": go_on(reply).get("reason")}
    return whole({key: value for key, value in fields.items() if value})


CLIENT = Client(
    name="cursor",
    title="Cursor",
    events=EVENTS,
    tools=tool_table(
        shell={"Shell": "command"},
        read={"Read": "file_path"},
        write={"Write": "file_path"},
        edit={"Edit": "file_path", "StrReplace": "file_path", "Delete": "file_path"},
        search={"Grep": "path", "Glob": "path"},
        fetch={"WebFetch": "", "WebSearch": ""},
        task={"Task": ""},
    ),
    limits={
        (PROMPT, ASK): limited("Cursor cannot ask about a prompt, so Samuel denies instead"),
        (PROMPT, CONTEXT): limited("messages are shown only with a denial; suggestions do not reach the model"),
        (PRE, ASK): limited("Cursor asks for shell commands and MCP tools; for others Samuel denies instead"),
        (PRE, REWRITE): limited("Cursor takes a rewrite in `preToolUse`, together with its allow"),
        (PRE, CONTEXT): limited("messages and suggestions are shown only with a denial"),
        (POST, CONTEXT): limited("messages and suggestions reach the model only in `postToolUse`"),
        (POST, OUTPUT): lost("Cursor takes no other output from a hook, but for MCP tools"),
        (STOP, CONTEXT): limited("messages and suggestions are not shown"),
        (END, EVENT): limited("Cursor does not wait for the hook to end"),
        (END, CONTEXT): limited("suggestions are not read when the session is over"),
    },
    form=form,
    fields={
        "conversation_id": "session_id",
        "session_id": "session_id",
        "transcript_path": "transcript_path",
        "cwd": "cwd",
        "tool_use_id": "call_id",
    },
    call=call,
    result=result,
    # It goes on already because of a hook.
    more=lambda event, payload: {"stop_hook_active": True} if event == STOP and payload.get("loop_count") else {},
    mcp=mcp_name,
    asks=("beforeShellExecution", "beforeMCPExecution"),
    exit_code_denies=(),
    documented=True,
    # Told through `preToolUse` and `postToolUse`, too.
    repeated=(*SHELL_EVENTS, *MCP_EVENTS, "beforeReadFile", "afterFileEdit"),
)


def relayed_form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The same answer, where a denial is exit code 2 as well: Cursor takes it from a hook of Claude Code."""
    answer = form(native_event, event, reply)
    denies = reply.decision == "deny" and event in DENIABLE
    return answer._replace(stderr=f"{reply.reason}\n", exit_code=BLOCKED) if denies else answer


RELAYED = CLIENT._replace(form=relayed_form, asks=())
