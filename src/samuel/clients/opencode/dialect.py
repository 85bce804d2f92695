"""opencode. Run with 1.18.33. It calls plugins, not commands: the bridge's plugin passes on `{input, output}`.

The plugin throws the text on stderr when the exit code is 2. On stdout it gets one JSON object: `args` replaces
the input of a call, `output` its output, and `context` is added to a message.
"""

from __future__ import annotations

from typing import Any

from samuel.clients.dialect.answers import as_json, messages_and_suggestions
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import END, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, FOLLOW_UP, limited, lost
from samuel.clients.dialect.payload import (
    common_fields,
    mapping,
    mapping_or_nothing,
    text,
    text_or_nothing,
    tool_call,
)
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload, PayloadError
from samuel.clients.dialect.tools import EDIT, MCP, Tool, tool_table

GROUP = "event"  # opencode tells all events of sessions through one hook
_FIELDS = {"sessionID": "session_id", "callID": "call_id"}


def event_of(native_event: str, payload: Payload) -> str:
    """The type of an event that was told under the name of all of them."""
    if native_event != GROUP:
        return native_event
    return text_or_nothing(_event(payload), "type")


def _event(payload: Payload) -> dict[str, Any]:
    """The event object: plugins get it wrapped, and may pass on either."""
    hook_input = mapping_or_nothing(payload, "input")
    return mapping_or_nothing(hook_input, "event") or hook_input


def context(native_event: str, event: str, payload: Payload) -> dict[str, Any]:
    """The context of a hook's payload."""
    if event in (START, STOP, END):
        return common_fields(mapping_or_nothing(_event(payload), "properties"), {"sessionID": "session_id"})
    hook_input, output = mapping(payload, "input"), mapping(payload, "output")
    fields = common_fields(hook_input, _FIELDS)
    if event == PROMPT:
        return {**fields, "user_message": _message(output)}
    arguments = output if event == PRE else hook_input
    fields |= tool_call(CLIENT.tools, text(hook_input, "tool"), mapping(arguments, "args"), mcp_name)
    return {**fields, **_result(output)} if event == POST else fields


def _message(output: Payload) -> str:
    """The text of a message: a list of parts, of which some may be files."""
    parts = output.get("parts")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise PayloadError("the payload has no list of parts in `output.parts`")
    texts = [text(part, "text") for part in parts if part.get("type") == "text"]
    return "\n".join(texts)


def _result(output: Payload) -> dict[str, Any]:
    """How a call ended and what came out of it. Only a shell has an exit code."""
    metadata = mapping_or_nothing(output, "metadata")
    exit_code = metadata.get("exit", 0)
    failed = bool(metadata.get("error")) or (exit_code != 0 and "exit" in metadata)
    return {"status": "failure" if failed else "success", "tool_output": output.get("output", "")}


def mcp_name(tool_name: str) -> str:
    """`mcp:server/tool` for `server_tool`; of opencode's own tools only those about plans have an underscore."""
    server, underscore, tool = tool_name.partition("_")
    if server == "plan":
        return ""
    return f"{MCP}{server}/{tool}" if underscore and server and tool else ""


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to the bridge's plugin."""
    if event == PRE:
        return as_json({"args": reply.result.get("tool_input")})
    if event == POST:
        return as_json({"output": reply.result.get("tool_output")})
    return as_json({"context": messages_and_suggestions(reply.result) if event == PROMPT else ""})


CLIENT = Client(
    name="opencode",
    title="opencode",
    events={
        "session.created": START,
        "chat.message": PROMPT,
        "tool.execute.before": PRE,
        "tool.execute.after": POST,
        "session.idle": STOP,
        "session.deleted": END,
    },
    tools=tool_table(
        shell={"bash": "command", "shell": "command"},  # the second is opencode 2's, like `patch` and `subagent`
        edit={
            **dict.fromkeys(("edit", "multiedit"), "filePath"),
            **dict.fromkeys(("apply_patch", "patch"), Tool(EDIT, {"patch": "patchText"})),
        },
        write={"write": "filePath"},
        read={"read": "filePath"},
        search={"glob": "path", "grep": "path", "list": "path"},
        fetch={"webfetch": "url", "websearch": ""},
        task={"task": "", "subagent": ""},
    ),
    limits={
        **dict.fromkeys(
            [(event, CONTEXT) for event in (START, PRE, POST, STOP, END)],
            limited("a plugin of opencode can show neither messages nor suggestions there"),
        ),
        (PRE, ASK): limited("a plugin of opencode cannot ask, so Samuel denies instead"),
        (POST, EVENT): limited("opencode does not fire it for a call that failed before it ended"),
        (STOP, FOLLOW_UP): lost("opencode has stopped when it tells so: a plugin cannot make it go on"),
        (END, EVENT): limited("opencode fires it when a session is deleted, not when it ends"),
    },
    form=form,
    context=context,
    names_event=False,
    mcp=mcp_name,
    groups=(GROUP,),
    event_of=event_of,
)
