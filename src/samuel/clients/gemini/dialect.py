"""Gemini CLI. Run with 0.61."""

from __future__ import annotations

import re
from typing import Any

from samuel.clients.dialect.answers import as_json, claude_fields, hook_output, messages, suggestions
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import END, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, limited
from samuel.clients.dialect.payload import COMMON, mapping, mapping_or_nothing, text_or_nothing
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload
from samuel.clients.dialect.tools import MCP, tool_table

_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)


def result(native_event: str, payload: Payload) -> dict[str, Any]:
    """How a call ended and what came out of it. A shell's exit code is in the text for the model."""
    response = mapping(payload, "tool_response")
    content = response.get("llmContent", "")
    exit_code = _EXIT_CODE.search(content) if isinstance(content, str) else None
    failed = bool(response.get("error")) or (exit_code is not None and exit_code[1] != "0")
    return {"status": "failure" if failed else "success", "tool_output": content}


def mcp_tool(event: str, payload: Payload) -> dict[str, Any]:
    """The name of an MCP tool where the client tells server and tool apart."""
    mcp = mapping_or_nothing(payload, "mcp_context") if event in (PRE, POST) else {}
    server, tool = text_or_nothing(mcp, "server_name"), text_or_nothing(mcp, "tool_name")
    return {"ability_id": f"{MCP}{server}/{tool}"} if server and tool else {}


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `mcp_server_tool` and `mcp__server__tool`; a server has no underscore in its name."""
    words = tool_name.replace("__", "_", 2).split("_", 2)
    is_mcp = len(words) == 3 and words[0] == "mcp" and all(words)
    return f"{MCP}{words[1]}/{words[2]}" if is_mcp else ""


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    if event == PRE:
        new_input = hook_output(native_event, tool_input=reply.result.get("tool_input"))
        return as_json({"systemMessage": messages(reply.result), **new_input})
    fields = claude_fields(native_event, event, reply, "deny")
    if event == POST and isinstance(tool_output := reply.result.get("tool_output"), str):
        # A denied result is replaced by its reason.
        reason = "\n\n".join(filter(None, (tool_output, suggestions(reply.result))))
        fields |= {"decision": "deny", "reason": reason}
    return as_json(fields)


CLIENT = Client(
    name="gemini",
    title="Gemini CLI",
    events={
        "SessionStart": START,
        "BeforeAgent": PROMPT,
        "BeforeTool": PRE,
        "AfterTool": POST,
        "AfterAgent": STOP,
        "SessionEnd": END,
    },
    tools=tool_table(
        shell={"run_shell_command": "command"},
        edit={"replace": "file_path"},
        write={"write_file": "file_path"},
        read={"read_file": "file_path", "read_many_files": ""},
        search=dict.fromkeys(("list_directory", "glob", "search_file_content", "grep_search"), "dir_path"),
        fetch={"web_fetch": "", "google_web_search": ""},
        task={"invoke_agent": ""},
    ),
    limits={
        (PRE, ASK): limited("Gemini CLI documents no way for a hook to ask, so Samuel denies instead"),
        (PRE, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
        (POST, OUTPUT): limited("Gemini CLI shows the new output as a blocked result, and takes only text"),
        (STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
        (END, EVENT): limited("Gemini CLI does not wait for the hook to end"),
        (END, CONTEXT): limited("suggestions are not read when the session is over"),
    },
    form=form,
    fields={**COMMON, "prompt_response": "last_message"},
    result=result,
    more=mcp_tool,
    mcp=mcp_name,
)
