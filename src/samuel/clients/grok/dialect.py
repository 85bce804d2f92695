"""Grok Build. Run with 1.0.41. It runs the hooks of Claude Code and Cursor, too, and sends them the same payload.

Its payload has each field in camel case, and most once more in snake case; its tools have their own names in both.
"""

from __future__ import annotations

from typing import Any

from samuel.clients.dialect.answers import as_json, go_on, hook_output, suggestions
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import END, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, limited, lost
from samuel.clients.dialect.payload import mapping_or_nothing, text, text_or_nothing
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload, PayloadError
from samuel.clients.dialect.tools import MCP, SHELL, Tool, tool_table

FAILURE = "PostToolUseFailure"
DENIED = 2  # the exit code that denies


def call(native_event: str, payload: Payload) -> tuple[str, Any]:
    """The tool and its input; PayloadError for an input that is not whole, which cannot be judged."""
    if payload.get("toolInputTruncated") is True:
        raise PayloadError("the input of the call is cut off")
    return text(payload, "toolName"), payload.get("toolInput")


def result(native_event: str, payload: Payload) -> dict[str, Any]:
    """How a call ended and what came out of it."""
    tool_result = mapping_or_nothing(payload, "toolResult")
    failed = tool_result.get("exit_code") not in (0, None) or tool_result.get("timed_out") is True
    output = text_or_nothing(tool_result, "output_for_prompt") or payload.get("toolResult")
    return {"status": "failure" if failed else "success", "tool_output": output}


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `server__tool`; no tool of Grok Build itself has two underscores."""
    server, underscores, tool = tool_name.partition("__")
    return f"{MCP}{server}/{tool}" if underscores and server and tool else ""


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event. A denial is exit code 2 as well, which every version obeys."""
    if reply.decision == "deny" and event in (PRE, PROMPT):
        word = "deny" if event == PRE else "block"
        answer = as_json({"decision": word, "reason": reply.reason})
        return answer._replace(stderr=f"{reply.reason}\n", exit_code=DENIED)
    if event == PRE:
        changes = {"updatedInput": reply.result.get("tool_input"), "additionalContext": suggestions(reply.result)}
        return as_json(hook_output(native_event, **changes))
    if native_event == "PostToolUse":
        return as_json(hook_output(native_event, additionalContext=suggestions(reply.result)))
    return as_json(go_on(reply) if event == STOP else {})


CLIENT = Client(
    name="grok",
    title="Grok Build",
    events={
        "SessionStart": START,
        "UserPromptSubmit": PROMPT,
        "PreToolUse": PRE,
        "PostToolUse": POST,
        FAILURE: POST,
        "Stop": STOP,
        "SessionEnd": END,
    },
    tools=tool_table(
        shell={
            **dict.fromkeys(("run_terminal_command", "run_terminal_cmd", "Shell"), "command"),
            "monitor": Tool(SHELL, command="command"),
        },
        edit={"search_replace": "file_path"},
        write={"write": "file_path"},
        read={"read_file": "target_file"},
        search={"grep": "path", "list_dir": "target_directory"},
        fetch={"web_fetch": "url", "web_search": ""},
        task={"spawn_subagent": ""},
    ),
    limits={
        (START, CONTEXT): limited("Grok Build reads no answer to this event"),
        (PROMPT, ASK): limited("Grok Build cannot ask about a prompt, so Samuel denies instead"),
        (PROMPT, CONTEXT): limited("messages and suggestions are read only with a denial"),
        (PRE, ASK): limited("with `--always-approve` Grok Build asks no person, so Samuel denies instead"),
        (PRE, CONTEXT): limited("suggestions reach the model after the call; messages are not shown"),
        (POST, CONTEXT): limited("messages are not shown"),
        (POST, OUTPUT): lost("Grok Build takes another output only in the shape of each tool"),
        (STOP, CONTEXT): limited("messages and suggestions are not shown"),
        (END, EVENT): limited("Grok Build waits 1.5 seconds for the hook when it ends"),
        (END, CONTEXT): limited("Grok Build reads no answer to this event"),
    },
    form=form,
    fields={
        "sessionId": "session_id",
        "transcriptPath": "transcript_path",
        "cwd": "cwd",
        "subagentType": "subagent",
        "toolUseId": "call_id",
        "permissionMode": "permission_mode",
        "stopHookActive": "stop_hook_active",
        "lastAssistantMessage": "last_message",
    },
    # When it ends, it fires `Stop` once more, with another reason than the end of a turn.
    fires=lambda native_event, payload: native_event != "Stop" or payload.get("reason") in (None, "end_turn"),
    call=call,
    result=result,
    failure=FAILURE,
    names_event=False,
    mcp=mcp_name,
    exit_code_denies=(),
    checked="1.0.41",
)
RELAYED = CLIENT
