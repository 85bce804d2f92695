"""GitHub Copilot CLI. Run with 1.0.102. A denial by exit code loses its reason, so each one is JSON on stdout."""

from __future__ import annotations

import re
from typing import Any

from samuel.clients.claude import dialect as claude
from samuel.clients.dialect.answers import as_json, go_on
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import END, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, DENY, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import mapping, text
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload
from samuel.clients.dialect.tools import shell_input, tool_table

FAILURE = "postToolUseFailure"
NOT_READ = "Copilot CLI reads no answer to this event"
_STATUS = {"success": "success", "denied": "skipped", "rejected": "skipped"}
_EXIT_CODE = re.compile(r"completed with exit code (-?\d+)>\s*$")


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `server-tool`, at the last hyphen; no tool of Copilot CLI itself has one."""
    server, hyphen, tool = tool_name.rpartition("-")
    return f"mcp:{server}/{tool}" if hyphen and server and tool else ""


def result(native_event: str, payload: Payload) -> dict[str, Any]:
    """How a call ended and what came out of it."""
    tool_result = mapping(payload, "toolResult")
    output = text(tool_result, "textResultForLlm")
    status = _STATUS.get(text(tool_result, "resultType"), "failure")
    exit_code = _EXIT_CODE.search(output)
    if status == "success" and exit_code and exit_code[1] != "0":
        status = "failure"
    return {"status": status, "tool_output": output}


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    if event == STOP:
        return as_json(go_on(reply))
    if event != PRE:
        return as_json({})
    tool_input = reply.result.get("tool_input") if reply.decision != "deny" else None
    if reply.decision in ("deny", "ask"):
        fields = {"permissionDecision": reply.decision, "permissionDecisionReason": reply.reason}
        return as_json({**fields, "modifiedArgs": tool_input})
    return as_json({"permissionDecision": "allow", "modifiedArgs": tool_input} if tool_input else {})


LIMITS = {
    **dict.fromkeys([(event, CONTEXT) for event in (START, PROMPT, POST, END)], limited(NOT_READ)),
    **dict.fromkeys([(PROMPT, DENY), (PROMPT, ASK)], lost(f"{NOT_READ}, so a prompt cannot be denied")),
    (PRE, ASK): limited("Copilot CLI asks the person; with `--allow-all-tools` or `-p` no person may be asked"),
    (PRE, REWRITE): limited("Copilot CLI takes a rewrite together with its allow, which skips its own prompt"),
    (PRE, CONTEXT): limited("messages and suggestions are not shown"),
    (POST, EVENT): limited("Copilot CLI tells no call id; the exit code of a command is read from its output"),
    (POST, OUTPUT): lost("Copilot CLI takes no other output from a command hook"),
    (STOP, CONTEXT): limited("messages and suggestions are not shown"),
}

CLIENT = Client(
    name="copilot",
    title="Copilot CLI",
    events={
        "sessionStart": START,
        "userPromptSubmitted": PROMPT,
        "preToolUse": PRE,
        "postToolUse": POST,
        FAILURE: POST,
        "agentStop": STOP,
        "sessionEnd": END,
    },
    tools=tool_table(
        shell={
            "bash": "command",
            "powershell": "command",
            "write_bash": shell_input("input"),
            "write_powershell": shell_input("input"),
        },
        edit={"edit": "path"},
        write={"create": "path"},
        read={"view": "path"},
        search={"glob": "path", "grep": "path"},
        fetch={"web_fetch": "url"},
        task={"task": ""},
    ),
    limits=LIMITS,
    form=form,
    fields={
        "sessionId": "session_id",
        "transcriptPath": "transcript_path",
        "cwd": "cwd",
        "toolCallId": "call_id",
        "stop_hook_active": "stop_hook_active",
    },
    call=lambda native_event, payload: (text(payload, "toolName"), payload.get("toolArgs")),
    result=result,
    failure=FAILURE,
    names_event=False,
    mcp=mcp_name,
    asks=("preToolUse",),
    exit_code_denies=(PROMPT,),
)


def relayed_result(native_event: str, payload: Payload) -> dict[str, Any]:
    """How a call ended, as a hook of Claude Code is told."""
    tool_result = mapping(payload, "tool_result")
    keys = {"textResultForLlm": "text_result_for_llm", "resultType": "result_type"}
    return result(native_event, {"toolResult": {own: tool_result.get(key) for own, key in keys.items()}})


# It runs the hooks of Claude Code with the fields of these, and the names of their tools; the inputs are its own.
RELAYED = claude.CLIENT._replace(
    name="copilot",
    title="Copilot CLI",
    tools=tool_table(
        shell={"Bash": "command", "PowerShell": "command"},
        edit={"Edit": "path"},
        write={"Write": "path"},
        read={"Read": "path"},
        search={"Glob": "path", "Grep": "path"},
        fetch={"WebFetch": "url"},
        task={"Task": "", "Agent": ""},
    ),
    result=relayed_result,
    output=CLIENT.output,
)
