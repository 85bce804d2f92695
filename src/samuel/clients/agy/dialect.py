"""Antigravity CLI (`agy`), by its documentation. It denies a tool call when the answer has no decision."""

from __future__ import annotations

from typing import Any

from samuel.clients.dialect.answers import go_on, whole
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import POST, PRE, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import common_fields, mapping, mapping_or_nothing, text, tool_call
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload
from samuel.clients.dialect.tools import tool_table

_FIELDS = {"conversationId": "session_id", "transcriptPath": "transcript_path"}


def context(native_event: str, event: str, payload: Payload) -> dict[str, Any] | None:
    """The context of a hook's payload."""
    fields = common_fields(payload, _FIELDS)
    if event == STOP:
        return {**fields, "stop_hook_active": True} if _repeated(payload) else fields
    if event == POST and not mapping_or_nothing(payload, "toolCall"):
        return None
    call, step = mapping(payload, "toolCall"), payload.get("stepIdx")
    fields |= tool_call(CLIENT.tools, text(call, "name"), mapping(call, "args"))
    if isinstance(step, int):
        fields["call_id"] = str(step)
    if event == POST:
        error = payload.get("error")
        fields |= {"status": "failure" if error else "success", "tool_output": error or ""}
    return fields


def _repeated(payload: Payload) -> bool:
    """Did the agent go on already because a hook told it to?"""
    number = payload.get("executionNum")
    return isinstance(number, int) and number > 1


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    if event == PRE:
        decision = {"deny": "deny", "ask": "force_ask"}.get(reply.decision, "allow")
        reason = {} if decision == "allow" else {"reason": reply.reason}
        return whole({"decision": decision, **reason})
    return whole(go_on(reply, "continue") if event == STOP else {})


LIMITS = {
    **dict.fromkeys(
        [(event, CONTEXT) for event in (PRE, POST, STOP)],
        limited("Antigravity CLI shows neither messages nor suggestions of a hook"),
    ),
    (PRE, EVENT): limited("Antigravity CLI needs `allow` for silence; that does not switch its own prompt off"),
    (PRE, ASK): limited("Antigravity CLI asks the person, even where none can answer"),
    (PRE, REWRITE): lost("Antigravity CLI takes no other input from a hook"),
    (POST, EVENT): limited("Antigravity CLI does not always name the tool; such an event is not fired"),
    (POST, OUTPUT): lost("Antigravity CLI takes no other output from a hook"),
}

CLIENT = Client(
    name="agy",
    title="Antigravity CLI",
    events={"PreToolUse": PRE, "PostToolUse": POST, "Stop": STOP},
    tools=tool_table(
        shell={"run_command": "CommandLine"},
        edit={"replace_file_content": "TargetFile", "multi_replace_file_content": "TargetFile"},
        write={"write_to_file": "TargetFile"},
        read={"view_file": "AbsolutePath"},
        search={"list_dir": "DirectoryPath", "find_by_name": "SearchDirectory", "grep_search": "SearchPath"},
        fetch={"read_url_content": "Url", "search_web": ""},
        task={"browser_subagent": ""},
    ),
    limits=LIMITS,
    form=form,
    context=context,
    names_event=False,
    asks=("PreToolUse",),
    exit_code_denies=(),
    documented=True,
)
