"""Gemini CLI. Run with 0.61."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from samuel.clients.dialect import hints, json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, limited
from samuel.clients.dialect.payload import (
    check_event,
    common_fields,
    mapping,
    mapping_or_nothing,
    text,
    text_or_nothing,
    tool_call,
)
from samuel.clients.dialect.tools import EDIT, FETCH, MCP, READ, SEARCH, TASK, WRITE, Tool, on_file, shell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "gemini"
TITLE = "Gemini CLI"
EVENTS = {
    "SessionStart": START,
    "BeforeAgent": PROMPT,
    "BeforeTool": PRE,
    "AfterTool": POST,
    "AfterAgent": STOP,
    "SessionEnd": END,
}
TOOLS = {
    "run_shell_command": shell(),
    "replace": on_file(EDIT, "file_path"),
    "write_file": on_file(WRITE, "file_path"),
    "read_file": on_file(READ, "file_path"),
    "read_many_files": Tool(READ),
    "list_directory": Tool(SEARCH, path="dir_path"),
    "glob": Tool(SEARCH, path="dir_path"),
    "search_file_content": Tool(SEARCH, path="dir_path"),
    "grep_search": Tool(SEARCH, path="dir_path"),
    "web_fetch": Tool(FETCH),
    "google_web_search": Tool(FETCH),
    "invoke_agent": Tool(TASK),
}
LIMITS = {
    (PRE, ASK): limited("Gemini CLI documents no way for a hook to ask, so Samuel denies instead"),
    (PRE, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
    (POST, OUTPUT): limited("Gemini CLI shows the new output as a blocked result, and takes only text"),
    (STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
    (END, EVENT): limited("Gemini CLI does not wait for the hook to end"),
    (END, CONTEXT): limited("suggestions are not read when the session is over"),
}
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    check_event(native_event, payload)
    context = {"client": NAME, "client_event": native_event, **common_fields(payload)}
    event = EVENTS[native_event]
    if event == PROMPT:
        return {**context, "user_message": text(payload, "prompt")}
    if event in (PRE, POST):
        context |= tool_call(TOOLS, text(payload, "tool_name"), payload.get("tool_input"), mcp_name)
        context |= mcp_tool(mapping_or_nothing(payload, "mcp_context"))
    if event == POST:
        context |= response(mapping(payload, "tool_response"))
    if event == STOP and (message := text_or_nothing(payload, "prompt_response")):
        context["last_message"] = message
    return context


def response(tool_response: Mapping[str, Any]) -> dict[str, Any]:
    """How a call ended and what came out of it. A shell's exit code is in the text for the model."""
    content = tool_response.get("llmContent", "")
    exit_code = _EXIT_CODE.search(content) if isinstance(content, str) else None
    failed = bool(tool_response.get("error")) or (exit_code is not None and exit_code[1] != "0")
    return {"status": "failure" if failed else "success", "tool_output": content}


def mcp_tool(mcp_context: Mapping[str, Any]) -> dict[str, Any]:
    """The name of an MCP tool where the client tells server and tool apart."""
    server, tool = text_or_nothing(mcp_context, "server_name"), text_or_nothing(mcp_context, "tool_name")
    return {"ability_id": f"{MCP}{server}/{tool}"} if server and tool else {}


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `mcp_server_tool` and `mcp__server__tool`; a server has no underscore in its name."""
    words = tool_name.replace("__", "_", 2).split("_", 2)
    is_mcp = len(words) == 3 and words[0] == "mcp" and all(words)
    return f"{MCP}{words[1]}/{words[2]}" if is_mcp else ""


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    event = EVENTS[native_event]
    reply = json_answer.settled(TITLE, reply)
    if event in (PRE, PROMPT) and reply.decision == "deny":
        return json_answer.blocked(reply.reason)
    fields = json_answer.to_user_and_model(native_event, reply)
    if event == PRE:
        fields["hookSpecificOutput"] = json_answer.specific(
            native_event, tool_input=reply.result.get("tool_input")
        )
    if event == POST and isinstance(tool_output := reply.result.get("tool_output"), str):
        # A denied result is replaced by its reason.
        fields |= {
            "decision": "deny",
            "reason": "\n\n".join(filter(None, (tool_output, hints.suggestions(reply.result)))),
        }
    if event in (STOP, END):
        del fields["hookSpecificOutput"]
    return json_answer.as_json({**fields, **json_answer.go_on(reply, "deny")} if event == STOP else fields)


CLIENT = Client(
    name=NAME, title=TITLE, events=EVENTS, translate=translate, answer=answer, tools=TOOLS, limits=LIMITS
)
