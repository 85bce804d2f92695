from __future__ import annotations

import os
import sys
from typing import Any

import click
import msgspec
from msgspec import UNSET

from samuel.cli import emit_fast
from samuel.cli.command_context import CommandContext, env_option
from samuel.cli.firing import fire
from samuel.cli.json_input import parse_json, read_stdin
from samuel.dialects.yaml_context import event_from_context
from samuel.errors import UsageError
from samuel.events import event_type

# What agents' own hooks understand: 2 stops them, any other fault is told and passed over.
DENY, FAULT = 2, 1


@click.command()
@click.argument("event")
@click.option(
    *("--as", "client"),
    metavar="CLIENT",
    help="EVENT, stdin and the answer are those of this agent's own hooks: claude, codex, gemini, …",
)
@click.option(
    "--session", metavar="ID", help="The session that the event belongs to; results of hooks are stored there."
)
@env_option
@click.pass_obj
def emit(here: CommandContext, event: str, client: str | None, session: str | None, environment: str) -> int:
    """Fire an event from any program or agent.

    The context is a JSON object on stdin, with the event's fields; the merged result comes on stdout. Exits with 0
    to go on and with 2 to stop, the reason on stderr. On an event that can be denied, whatever goes wrong here
    stops it too. Inside an agent that Samuel runs, its session and its recipe are filled in if the context does
    not name others.

    With `--as`, EVENT is an event of that agent's own hooks, stdin is its payload, and the answer is the one that
    this agent expects; an error denies in the agent's own way.

    \b
        samuel emit UserPromptSubmit --session s1 < context.json
        samuel emit --as claude PreToolUse < payload.json
    """
    if client is not None:
        from samuel.cli.emit_client import emit_for_client  # with every client's dialect

        return emit_for_client(here, client, event, session, environment)
    kind = event_type(event)
    here.out.failure = DENY if kind.composition.can_deny else FAULT
    if kind.irreversible:
        hint = f"`samuel hooks fire {kind.name} --really` does it"
        raise UsageError(f"`{kind.name}` does what cannot be taken back", hint)
    fired_event = event_from_context(kind, _context())
    if session is None and fired_event.session_id is UNSET:
        session = os.environ.get("SAMUEL_SESSION_ID")  # an agent that Samuel started need not know where it is
    if session:
        fired_event = msgspec.structs.replace(fired_event, session_id=session)
    before = emit_fast.deciding(here.root)
    with here.open(environment=environment) as app:
        fired = fire(here, app, app.with_context(fired_event))
        emit_fast.remember(app, environment, before)  # the next time the engine may not be needed
    here.out.warn(*fired.warnings, *app.unasked_hooks(fired), *app.warnings)
    here.out.line(msgspec.json.encode(fired.result))
    if fired.stopped:
        if fired.reason not in fired.messages:  # which were told already
            here.out.tell(fired.reason)
        return DENY
    return 0


def _context() -> Any:
    """The JSON on stdin; an empty object if stdin is empty or a terminal."""
    data = b"" if sys.stdin.isatty() else read_stdin()
    return parse_json(data, "the context on stdin") if data.strip() else {}
