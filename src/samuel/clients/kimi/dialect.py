"""Kimi Code. Run with 2.1.0. A denial is exit code 2; of JSON it reads `message`, which goes to the model."""

from __future__ import annotations

from samuel.clients.claude import dialect as claude
from samuel.clients.dialect.answers import as_json, blocked, go_on, messages_and_suggestions
from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import END, POST, PRE, PROMPT, START, STOP
from samuel.clients.dialect.limits import ASK, CONTEXT, EVENT, OUTPUT, REWRITE, limited, lost
from samuel.clients.dialect.payload import COMMON
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, Payload, PayloadError
from samuel.clients.dialect.tools import tool_table


def prompt(payload: Payload) -> str:
    """The text of a prompt: a list of parts, of which some may be pictures."""
    parts = payload.get("prompt")
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise PayloadError("the payload has no list of parts in `prompt`")
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    if parts and not texts and any(part.get("type") == "text" for part in parts):
        raise PayloadError("the parts of `prompt` have no `text`")
    return "\n".join(texts)


def form(native_event: str, event: str, reply: ClientReply) -> ClientAnswer:
    """The answer to a hook's event."""
    if event == STOP and (reason := go_on(reply).get("reason")):
        return blocked(reason)
    return as_json({"message": messages_and_suggestions(reply.result) if event == PROMPT else ""})


CLIENT = Client(
    name="kimi",
    title="Kimi Code",
    events=claude.FAMILY_EVENTS,
    tools=tool_table(
        shell={"Bash": "command"},
        edit={"Edit": "path"},
        write={"Write": "path"},
        read={"Read": "path"},
        search={"Glob": "path", "Grep": "path"},
        fetch={"FetchURL": "url", "WebSearch": ""},
        task={"Task": "", "Agent": ""},
    ),
    limits={
        **dict.fromkeys(
            [(event, CONTEXT) for event in (START, PRE, POST, STOP, END)],
            limited("Kimi Code shows neither messages nor suggestions of this event"),
        ),
        (PRE, ASK): limited("Kimi Code has no way for a hook to ask, so Samuel denies instead"),
        (PRE, REWRITE): lost("Kimi Code ignores a rewritten input"),
        (POST, EVENT): limited("Kimi Code does not wait for the hook, and an unattended run may end before it"),
        (POST, OUTPUT): lost("Kimi Code takes no other output from a hook"),
        (END, EVENT): limited("Kimi Code does not fire SessionEnd in an unattended run"),
    },
    form=form,
    fields={**COMMON, "tool_call_id": "call_id"},
    prompt=prompt,
    result=lambda native_event, payload: {"status": "success", "tool_output": payload.get("tool_output", "")},
    failure=claude.FAILURE,
)
