"""`samuel emit --as CLIENT`: one event of a client's own hooks, answered in the client's own words.

Whatever goes wrong is answered too: with a denial where the client can be denied, and elsewhere with a message, so
that an observer that fails never stops an agent.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from samuel.cli import emit_fast
from samuel.cli.emit_in_run import bridge_field, check_project, is_fired_by_run
from samuel.cli.explained import explained
from samuel.cli.json_input import parse_json, read_stdin
from samuel.dialects.clients.client import DENIABLE, STOP, ClientAnswer, ClientReply, PayloadError
from samuel.dialects.clients.table import client as client_named
from samuel.dialects.clients.tools import native_result
from samuel.dialects.yaml_context import event_from_context
from samuel.errors import SamuelError, UsageError
from samuel.events import event_type
from samuel.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from samuel.app import App
    from samuel.cli.command_context import CommandContext
    from samuel.dialects.clients.client import Client
    from samuel.dispatch.record import Fired
    from samuel.events import Event

DENY = 2  # the exit code that every client understands, for what cannot be answered any more

RUN_VARIABLES = {"SAMUEL_RUN_ID": "run_id", "SAMUEL_TASK_ID": "task_id", "SAMUEL_ITERATION": "iteration"}


def emit_for_client(
    here: CommandContext, name: str, event_name: str, session: str | None, environment: str
) -> int:
    """Read the payload of a client's hook on stdin, fire the event, and print the client's answer."""
    here.out.failure = DENY
    client = client_named(name)
    warnings: list[str] = []
    if event_name not in (*client.events, *client.groups):
        hint = did_you_mean(event_name, client.events, f"it has {', '.join(client.events)}")
        raise UsageError(f"`{event_name}` is not an event of {client.title}", hint)
    native_event = event_name
    try:
        check_project(here.root)
        payload = _payload()
        native_event = client.event_of(event_name, payload)
        context = _context(client, native_event, payload, session)
        if context and is_fired_by_run(here.root, client.events[native_event], context):
            context = {}
        reply = _fire(here, client, context, environment, warnings) if context else ClientReply()
    except KeyboardInterrupt:
        reply = _refused(client, native_event, SamuelError("interrupted"))
    except Exception as error:  # noqa: BLE001  the client has to be answered, whatever happens here
        reply = _refused(client, native_event, explained(error, sys.argv[1:]))
    if native_event not in client.events:
        return _print(here, ClientAnswer(stderr=_text(reply)), warnings)
    if client.events[native_event] not in DENIABLE:
        here.out.failure = 0
    return _print(here, client.answer(native_event, reply), warnings)


def _payload() -> Mapping[str, Any]:
    payload = parse_json(read_stdin(), "the payload on stdin")
    if not isinstance(payload, dict):
        raise UsageError("the payload on stdin is not a JSON object")
    return payload


def _context(client: Client, native_event: str, payload: Mapping[str, Any], session: str | None) -> dict[str, Any]:
    """The context of the event; {} if there is nothing to fire."""
    if native_event not in client.events:  # one of the many under the name of a group
        return {}
    try:
        context = client.translate(native_event, payload)
    except PayloadError as error:
        hint = f"this may be a version of {client.title} that Samuel does not know yet"
        raise UsageError(f"cannot read the payload of `{native_event}`: {error}", hint) from None
    if not context:
        return {}
    # An agent that Samuel started belongs to its run, whatever the client calls its own session.
    if own_session := session or os.environ.get("SAMUEL_SESSION_ID"):
        context = {**context, "client_session": context.get("session_id"), "session_id": own_session}
    names = {key: os.environ.get(variable) for variable, key in RUN_VARIABLES.items()}
    return {**context, **{key: value for key, value in names.items() if value}, **bridge_field()}


def _fire(
    here: CommandContext, client: Client, context: Mapping[str, Any], environment: str, warnings: list[str]
) -> ClientReply:
    native_event = context["client_event"]
    event = event_from_context(event_type(client.events[native_event]), context)
    before = emit_fast.deciding(here.root)
    with here.open(environment=environment, ask=lambda _: None) as app:  # the client asks, if it can
        fired, messages = _record(app, event)
        emit_fast.remember(app, environment, before)
        warnings += [*fired.warnings, *app.unasked_hooks(fired), *app.warnings]
    result = native_result(client, context.get("tool_name", ""), fired.result)
    if messages:
        result["messages_to_user"] = [*(result.get("messages_to_user") or ()), *messages]
    return _reply(client.events[native_event], fired, result, again=context.get("stop_hook_active") is True)


def _record(app: App, event: Event) -> tuple[Fired, list[str]]:
    """Fire the event, in its session if it has one; with a line for each follow-up action that hooks propose."""
    if not isinstance(event.session_id, str):
        return app.fire(event), []
    from samuel.sessions.follow_up import describe

    recorded = app.session_recorder(None).fire(event.session_id, event)
    return recorded.fired, [describe(action) for action in recorded.follow_ups]


def _reply(event_name: str, fired: Fired, result: dict[str, Any], *, again: bool) -> ClientReply:
    """`again`: the client goes on already because a hook asked for it, and must not do so forever."""
    if event_name == STOP and again:
        result.pop("follow_up_messages", None)
        return ClientReply(result)
    if not fired.stopped:
        return ClientReply(result, str(result.get("decision") or ""), str(result.get("reason") or ""))
    if event_name not in (*DENIABLE, STOP):
        return ClientReply(_with_message(result, fired.reason))
    return ClientReply(result, "deny", fired.reason)


def _refused(client: Client, native_event: str, error: SamuelError) -> ClientReply:
    """The reply where the event could not be fired."""
    message = f"samuel: {error}"
    if client.events.get(native_event) in DENIABLE:
        return ClientReply({}, "deny", message)
    return ClientReply(_with_message({}, message))


def _with_message(result: Mapping[str, Any], message: str) -> dict[str, Any]:
    return {**result, "messages_to_user": [*(result.get("messages_to_user") or ()), message]}


def _text(reply: ClientReply) -> str:
    return "".join(f"{message}\n" for message in reply.result.get("messages_to_user", ()))


def _print(here: CommandContext, answer: ClientAnswer, warnings: list[str]) -> int:
    if answer.stdout:
        print(answer.stdout, flush=True)
    if answer.stderr:  # the model reads it: nothing but the reason
        here.out.tell(answer.stderr.rstrip("\n"))
    else:
        here.out.warn(*warnings)
    return answer.exit_code
