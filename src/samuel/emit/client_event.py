"""`samuel emit --as CLIENT`: one event of a client's own hooks, answered in the client's own words.

Whatever goes wrong is answered too: with a denial where the client can be denied, and elsewhere with a message, so
that an observer that fails never stops an agent.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samuel.base.errors import SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.base.paths import Project, User
from samuel.clients.dialect.events import DENIABLE, INSIDE_AGENT, STOPS
from samuel.clients.dialect.protocol import ClientAnswer, ClientReply, PayloadError
from samuel.clients.dialect.sender import sender
from samuel.clients.dialect.tools import native_result
from samuel.clients.hook_formats.yaml_context import event_from_context
from samuel.clients.table import RELAYED_CLIENTS
from samuel.clients.table import client as client_named
from samuel.emit.call import DENY, STDERR, STDOUT, EmitAnswer, EmitArguments
from samuel.emit.deliveries import fire_once
from samuel.emit.host import EmitHost, ReadStdin, failed, fire, lines, payload_extra, warnings_of
from samuel.events import event_type
from samuel.files.explained import explained
from samuel.files.json import parse_json, within_limit
from samuel.journal import EventRecord, newest_first
from samuel.process.emit_client import DeadlinePassed
from samuel.process.environment import BRIDGED
from samuel.process.passed import PINNED

if TYPE_CHECKING:
    from samuel.clients.dialect.client import Client
    from samuel.dispatch.record import Fired

BRIDGE = "bridge"
"""The field of a payload that says who asked: the bridge of a run."""
OF_RUN = "run"

RUN_VARIABLES = {"SAMUEL_RUN_ID": "run_id", "SAMUEL_TASK_ID": "task_id", "SAMUEL_ITERATION": "iteration"}


def answer_client(
    words: Sequence[str], arguments: EmitArguments, read_stdin: ReadStdin, host: EmitHost
) -> EmitAnswer:
    """Fire the event of the payload on stdin; `words` is the command line, for the report of a bug."""
    try:
        client = client_named(arguments.client)
        native_event = arguments.event
        if native_event not in (*client.events, *client.groups):
            hint = did_you_mean(native_event, client.events, f"it has {', '.join(client.events)}")
            raise UsageError(f"`{native_event}` is not an event of {client.title}", hint)
    except SamuelError as error:
        return failed(error, DENY)
    warnings: list[str] = []
    try:
        root = host.root()
        _check_project(root)
        payload = _payload(read_stdin())
        client, native_event = sender(client, client.event_of(native_event, payload), payload)
        context = _context(client, native_event, payload, arguments.session)
        if context and _is_fired_by_run(root, client.events[native_event], context):
            context = {}
        reply = _reply_to(host, client, context, arguments, warnings) if context else ClientReply()
    except DeadlinePassed as passed:
        reply = _refused(client, native_event, SamuelError(passed.message, passed.hint))
    except KeyboardInterrupt:
        reply = _refused(client, native_event, SamuelError("interrupted"))
    except Exception as error:  # noqa: BLE001  the client has to be answered, whatever happens here
        reply = _refused(client, native_event, explained(error, words))
    return _answer(client, native_event, reply, warnings)


def _payload(data: bytes) -> Mapping[str, Any]:
    # Cursor begins its payload with a byte order mark on some systems.
    payload = parse_json(within_limit(data, "stdin").removeprefix(codecs.BOM_UTF8), "the payload on stdin")
    if not isinstance(payload, dict):
        raise UsageError("the payload on stdin is not a JSON object")
    return payload


def _context(client: Client, native_event: str, payload: Mapping[str, Any], session: str) -> dict[str, Any]:
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
    return {**context, **{key: value for key, value in names.items() if value}, **_bridge_field()}


def _bridge_field() -> dict[str, str]:
    """The field that marks a payload from the bridge of a run; {} for any other."""
    return {BRIDGE: OF_RUN} if os.environ.get(PINNED) else {}


def _check_project(root: Path) -> None:
    """Raise SamuelError if the bridge of a run asks about another project than the run's own.

    An agent that removes samuel.toml and .git would be judged by the hooks of the directory above, or by none.
    """
    if os.environ.get(PINNED) and (own := os.environ.get("SAMUEL_PROJECT_ROOT")) != str(root):
        raise SamuelError(
            f"the run is about `{own}`, but the project here is `{root}`",
            "put back the samuel.toml and the .git of the project",
        )


def _is_fired_by_run(root: Path, event: str, context: Mapping[str, Any]) -> bool:
    """Whether the run around this process fires this event too, and this is the user's own bridge.

    A user may have connected a client with `samuel bridge add` and run it in the loop, which connects it once
    more. The loop fires the events of the session itself, and the run's bridge fires what happens inside it. That
    holds only for the session of the client that the run started: a client that this one starts has the user's
    bridge alone.
    """
    if not os.environ.get(BRIDGED) or os.environ.get(PINNED):
        return False
    if event not in INSIDE_AGENT:
        return True
    session, client_session = context.get("session_id"), context.get("client_session")
    for record in newest_first(root, Project(root).journal):
        if isinstance(record, EventRecord) and record.event in INSIDE_AGENT and record.session_id == session:
            extra = payload_extra(record)
            if extra.get(BRIDGE) == OF_RUN:  # the client that the run started: it has one session
                return client_session is not None and extra.get("client_session") == client_session
    return False


def _reply_to(
    host: EmitHost, client: Client, context: Mapping[str, Any], arguments: EmitArguments, warnings: list[str]
) -> ClientReply:
    """The reply with the client's own names. What the client delivers through several hooks is fired once."""
    event = client.events[context["client_event"]]
    fire_event = partial(_fire, host, client, context, arguments, warnings)
    if client.name in RELAYED_CLIENTS and not os.environ.get(BRIDGED) and not os.environ.get(PINNED):
        state = User.from_environment().state
        reply = fire_once(state, arguments.client, event, context, fire_event)
    else:
        reply = fire_event()
    return reply._replace(result=native_result(client, context.get("tool_name", ""), reply.result))


def _fire(
    host: EmitHost, client: Client, context: Mapping[str, Any], arguments: EmitArguments, warnings: list[str]
) -> ClientReply:
    """The reply with the common names."""
    native_event = context["client_event"]
    event = event_from_context(event_type(client.events[native_event]), context)
    with host.opened(arguments) as app:
        unanswered = _refused(client, native_event, SamuelError("it ended before the hooks did"))
        host.firing(app, event, _answer(client, native_event, unanswered))
        fired, follow_ups = fire(app, event, None)
        warnings += warnings_of(app, fired)
    result = dict(fired.result)
    if follow_ups:
        result["messages_to_user"] = [*(result.get("messages_to_user") or ()), *follow_ups]
    return _reply(client.events[native_event], fired, result, again=context.get("stop_hook_active") is True)


def _reply(event_name: str, fired: Fired, result: dict[str, Any], *, again: bool) -> ClientReply:
    """`again`: the client goes on already because a hook asked for it, and must not do so forever."""
    if event_name in STOPS and again:
        result.pop("follow_up_messages", None)
        return ClientReply(result)
    if not fired.stopped:
        return ClientReply(result, str(result.get("decision") or ""), str(result.get("reason") or ""))
    if event_name not in (*DENIABLE, *STOPS):
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


def _answer(client: Client, native_event: str, reply: ClientReply, warnings: Sequence[str] = ()) -> EmitAnswer:
    known_event = native_event in client.events
    answer = client.answer(native_event, reply) if known_event else ClientAnswer(stderr=_text(reply))
    output = [(STDOUT, f"{answer.stdout}\n")] if answer.stdout else []
    if answer.stderr:  # the model reads it: nothing but the reason
        output += lines(STDERR, answer.stderr.rstrip("\n"))
    else:
        output += lines(STDERR, *(f"warning: {warning}" for warning in warnings))
    observed = known_event and client.events[native_event] not in DENIABLE
    return EmitAnswer(answer.exit_code, tuple(output), 0 if observed else DENY)
