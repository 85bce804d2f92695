"""Codex. Run with 0.169. It ignores an answer with a key that it does not expect: each has only those it reads."""

from __future__ import annotations

from typing import Any

from samuel.clients.claude import dialect as claude
from samuel.clients.dialect.answers import as_json, claude_fields, hook_output, suggestions, whole
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import END, POST, PRE, PRE_COMPACT, PROMPT, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, DENY, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import session_fields
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload, PayloadError
from samuel.clients.dialect.tools import EDIT, Tool, shell_input, tool_table


def result(native_event: str, payload: Payload) -> dict[str, Any]:
    """What came out of a call."""
    if "tool_response" not in payload:
        raise PayloadError("the payload has no `tool_response`")
    return {"status": "success", "tool_output": payload["tool_response"]}


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    if event == END:
        return ClientAnswer()  # it publishes no form of an answer, and reads none
    fields = claude_fields(native_event, event, reply)
    if event == PRE_COMPACT and reply.decision == "deny":
        return whole({"continue": False, "stopReason": reply.reason})
    if event == PRE and (tool_input := reply.result.get("tool_input")) is not None:
        hints = suggestions(reply.result)
        fields |= hook_output(
            native_event, permissionDecision="allow", updatedInput=tool_input, additionalContext=hints
        )
    return as_json(fields)


LIMITS = {
    (PRE, ASK): limited("Codex runs the tool when a hook asks, so Samuel denies instead"),
    (PRE, REWRITE): limited("Codex takes a rewrite only together with its allow, which skips its own approval"),
    (POST, EVENT): limited("Codex does not tell whether a command failed: the status is always `success`"),
    (POST, OUTPUT): lost("Codex takes no other output from a hook"),
    (STOP, CONTEXT): limited("messages are shown to the user; suggestions do not reach the model"),
    (PRE_COMPACT, DENY): limited("Codex ends the turn in place of compacting; it ignores an exit code"),
    (PRE_COMPACT, CONTEXT): limited("messages are shown to the user; suggestions are not read"),
    (END, EVENT): limited("Codex gives the hook at most 3 seconds"),
    (END, CONTEXT): limited("Codex reads no answer when the session is over: messages are in the journal only"),
}

CLIENT = Client(
    name="codex",
    title="Codex",
    events={
        **{event: ours for event, ours in claude.FAMILY_EVENTS.items() if event != claude.FAILURE},
        "PreCompact": PRE_COMPACT,
    },
    tools=tool_table(
        shell={"Bash": "command", "write_stdin": shell_input("chars")},
        edit={"apply_patch": Tool(EDIT, {"patch": "command"})},
    ),
    limits=LIMITS,
    form=form,
    result=result,
    more=session_fields,
    exit_code_denies=(PROMPT, PRE),
)
