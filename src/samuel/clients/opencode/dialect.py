"""opencode. Run with 1.18.33. It calls plugins, not commands: the bridge's plugin passes on `{input, output}`.

The plugin throws the text on stderr when the exit code is 2. On stdout it gets one JSON object: `args` replaces
the input of a call, `output` its output, and `context` is added to a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.clients.dialect import hints, json_answer
from samuel.clients.dialect.client import END, POST, PRE, PROMPT, START, STOP, Client, PayloadError
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, FOLLOW_UP, limited, lost
from samuel.clients.dialect.payload import mapping, mapping_or_nothing, text, text_or_nothing, tool_call
from samuel.clients.dialect.tools import EDIT, FETCH, MCP, READ, SEARCH, TASK, WRITE, Tool, on_file, shell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samuel.clients.dialect.client import ClientAnswer, ClientReply

NAME = "opencode"
TITLE = "opencode"
GROUP = "event"  # opencode tells all events of sessions through one hook
EVENTS = {
    "session.created": START,
    "chat.message": PROMPT,
    "tool.execute.before": PRE,
    "tool.execute.after": POST,
    "session.idle": STOP,
    "session.deleted": END,
}
TOOLS = {
    "bash": shell(),
    "edit": on_file(EDIT, "filePath"),
    "multiedit": on_file(EDIT, "filePath"),
    "apply_patch": Tool(EDIT, {"patch": "patchText"}),
    "write": on_file(WRITE, "filePath"),
    "read": on_file(READ, "filePath"),
    "glob": Tool(SEARCH, path="path"),
    "grep": Tool(SEARCH, path="path"),
    "list": Tool(SEARCH, path="path"),
    "webfetch": Tool(FETCH, {"url": "url"}),
    "websearch": Tool(FETCH),
    "task": Tool(TASK),
}
NOT_SHOWN = "a plugin of opencode can show neither messages nor suggestions there"
LIMITS = {
    (START, CONTEXT): limited(NOT_SHOWN),
    (PRE, ASK): limited("a plugin of opencode cannot ask, so Samuel denies instead"),
    (PRE, CONTEXT): limited(NOT_SHOWN),
    (POST, EVENT): limited("opencode does not fire it for a call that failed before it ended"),
    (POST, CONTEXT): limited(NOT_SHOWN),
    (STOP, FOLLOW_UP): lost("opencode has stopped when it tells so: a plugin cannot make it go on"),
    (STOP, CONTEXT): limited(NOT_SHOWN),
    (END, EVENT): limited("opencode fires it when a session is deleted, not when it ends"),
    (END, CONTEXT): limited(NOT_SHOWN),
}


def event_of(native_event: str, payload: Mapping[str, Any]) -> str:
    """The type of an event that was told under the name of all of them."""
    if native_event != GROUP:
        return native_event
    return text_or_nothing(_event(payload), "type")


def _event(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The event object: plugins get it wrapped, and may pass on either."""
    hook_input = mapping_or_nothing(payload, "input")
    return mapping_or_nothing(hook_input, "event") or hook_input


def translate(native_event: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The context of a hook's payload."""
    context: dict[str, Any] = {"client": NAME, "client_event": native_event}
    event = EVENTS[native_event]
    if event in (START, STOP, END):
        session = text_or_nothing(mapping_or_nothing(_event(payload), "properties"), "sessionID")
        return {**context, "session_id": session} if session else context
    hook_input, output = mapping(payload, "input"), mapping(payload, "output")
    if session := text_or_nothing(hook_input, "sessionID"):
        context["session_id"] = session
    if event == PROMPT:
        return {**context, "user_message": _message(output)}
    if call_id := text_or_nothing(hook_input, "callID"):
        context["call_id"] = call_id
    arguments = output if event == PRE else hook_input
    context |= tool_call(TOOLS, text(hook_input, "tool"), mapping(arguments, "args"), mcp_name)
    return {**context, **_result(output)} if event == POST else context


def _message(output: Mapping[str, Any]) -> str:
    """The text of a message: a list of parts, of which some may be files."""
    parts = output.get("parts")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise PayloadError("the payload has no list of parts in `output.parts`")
    texts = [text(part, "text") for part in parts if part.get("type") == "text"]
    return "\n".join(texts)


def _result(output: Mapping[str, Any]) -> dict[str, Any]:
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


def answer(native_event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to the bridge's plugin."""
    event = EVENTS[native_event]
    reply = json_answer.settled(TITLE, reply)
    if event in (PRE, PROMPT) and reply.decision == "deny":
        return json_answer.blocked(reply.reason)
    if event == PRE:
        return json_answer.as_json({"args": reply.result.get("tool_input")})
    if event == POST:
        return json_answer.as_json({"output": reply.result.get("tool_output")})
    texts = (hints.messages(reply.result), hints.suggestions(reply.result)) if event == PROMPT else ()
    return json_answer.as_json({"context": "\n\n".join(filter(None, texts))})


CLIENT = Client(
    name=NAME,
    title=TITLE,
    events=EVENTS,
    groups=(GROUP,),
    event_of=event_of,
    translate=translate,
    answer=answer,
    tools=TOOLS,
    limits=LIMITS,
)
