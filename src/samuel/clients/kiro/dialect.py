"""Kiro, by its documentation of hook files of version v1: those of CLI 3 and IDE 1. Samuel was not run with it."""

from __future__ import annotations

from typing import Any

from samuel.clients.dialect.answers import messages_and_suggestions
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, FOLLOW_UP, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import mapping_or_nothing
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload
from samuel.clients.dialect.tools import EDIT, MCP, READ, WRITE, Tool, tool_table

NO_QUESTION = "a hook of Kiro cannot ask, so Samuel denies instead"


def result(native_event: str, payload: Payload) -> dict[str, Any]:
    """How a call ended and what came out of it."""
    failed = mapping_or_nothing(payload, "tool_response").get("success") is False
    return {"status": "failure" if failed else "success", "tool_output": payload.get("tool_response", "")}


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `@server/tool`."""
    server, slash, tool = tool_name.removeprefix("@").partition("/")
    return f"{MCP}{server}/{tool}" if tool_name.startswith("@") and slash and server and tool else ""


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """What is on stdout becomes context. A denial is exit code 2."""
    return ClientAnswer(stdout=messages_and_suggestions(reply.result) if event in (START, PROMPT) else "")


CLIENT = Client(
    name="kiro",
    title="Kiro",
    events={
        "SessionStart": START,
        "UserPromptSubmit": PROMPT,
        "PreToolUse": PRE,
        "PostToolUse": POST,
        "Stop": STOP,
    },
    tools=tool_table(
        shell=dict.fromkeys(("execute_bash", "execute_cmd", "shell"), "command"),
        # Which key has the file depends on what they do with it.
        edit={"str_replace": Tool(EDIT, path="path")},
        write=dict.fromkeys(("fs_write", "write"), Tool(WRITE, path="path")),
        read=dict.fromkeys(("fs_read", "read"), Tool(READ, path="path")),
        search={"grep": "path", "glob": "path"},
        fetch={"web_fetch": "url", "web_search": ""},
        task={"use_subagent": ""},
    ),
    limits={
        (PROMPT, ASK): limited(NO_QUESTION),
        (PRE, ASK): limited(NO_QUESTION),
        (PRE, REWRITE): lost("a hook of Kiro cannot change the input of a call"),
        (PRE, CONTEXT): limited("messages and suggestions are shown only with a denial"),
        (POST, CONTEXT): limited("messages and suggestions are not shown"),
        (POST, OUTPUT): lost("Kiro takes no other output from a hook"),
        (STOP, CONTEXT): limited("messages and suggestions are not shown"),
        (STOP, FOLLOW_UP): lost("Kiro has stopped when it tells so: a hook cannot make it go on"),
    },
    form=form,
    result=result,
    names_event=False,
    mcp=mcp_name,
    documented=True,
)
