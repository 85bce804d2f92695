from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from samuel.app import App
from samuel.app.embedding import payload
from samuel.cli.command_context import CommandContext, env_option, inside_a_run, json_option
from samuel.cli.consent import Consent, ask_for_each, readable
from samuel.decoding import decode_json
from samuel.dispatch.record import Fired
from samuel.errors import UsageError
from samuel.events import EventType, LoopEvent, canonical, event_type
from samuel.events.schema import sample
from samuel.hooks.handler import HandlerStatus


@click.command()
@click.argument("event")
@click.option("--payload", "given", metavar="JSON|@FILE|-", default="{}", help="The event's fields.")
@click.option("--really", is_flag=True, help="Fire an event that does what cannot be taken back.")
@env_option
@json_option
@click.pass_obj
def fire(here: CommandContext, event: str, given: str, really: bool, environment: str) -> int:
    """Fire an event, and show what came of it.

    Fields that are needed and not given get samples. Hooks of a repository run only if you trust them.

    \b
        samuel hooks fire quality.check --payload '{"commands": ["pytest -q"]}'
    """
    kind = event_type(event)
    if kind.irreversible and not really:
        raise UsageError(f"firing `{kind.name}` does what cannot be taken back", "add `--really` if you mean it")
    fields = _own(kind, _read(here, given))
    samples = {name: value for name, value in sample(kind).items() if name not in fields}
    fired_event = payload(kind.name, {**samples, **fields})
    notes = [f"`{name}` was not given; the sample is {json.dumps(value)}" for name, value in samples.items()]

    with _opened(here, environment) as app:
        if isinstance(fired_event, LoopEvent) and "context" not in fields:
            fired_event = msgspec.structs.replace(fired_event, context=app.context())
        notes += _untrusted(app)
        fired = app.fire(fired_event)
        notes += app.unheard(fired)
    warnings = [*notes, *fired.warnings, *app.warnings]
    here.out.warn(*warnings)
    here.out.object(_plain(kind, fired, warnings))
    return 0 if fired.ok else 1


def _plain(kind: EventType, fired: Fired, warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "event": kind.name,
        "ok": fired.ok,
        "result": msgspec.to_builtins(fired.result),
        "chain": [
            {
                "handler": call.handler.name,
                "outcome": call.outcome.value,
                "duration_ms": round(call.duration_ms, 3),
                "message": call.message,
            }
            for call in fired.calls
        ],
        "warnings": list(warnings),
    }


def _read(here: CommandContext, given: str) -> Any:
    """`--payload` as a value: JSON, `@file`, or `-` for stdin."""
    try:
        if given == "-":
            text = sys.stdin.buffer.read()
        elif given.startswith("@"):
            text = (here.directory / Path(given[1:])).read_bytes()
        else:
            text = given.encode(errors="surrogateescape")
    except OSError as error:
        raise UsageError(
            f"cannot read `{given[1:]}`: {error.strerror}", "`--payload @FILE` names a file"
        ) from None
    try:
        return decode_json(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"`--payload` is not JSON: {error}", _LIKE) from None


def _own(kind: EventType, fields: Any) -> dict[str, Any]:
    """The fields, without the event's name: a payload out of the journal may carry it."""
    if not isinstance(fields, dict):
        raise UsageError("`--payload` must be a JSON object", _LIKE)
    said = fields.pop("event", kind.name)
    if not isinstance(said, str) or canonical(said) != kind.name:
        raise UsageError(f"the payload is one of `{said}`, not of `{kind.name}`", "fire the event it belongs to")
    return fields


_LIKE = """write it like '{"commands": ["true"]}', `@file` or `-`"""


def _opened(here: CommandContext, environment: str) -> App:
    """The project, after its owner was asked about what is new in it."""
    app = here.open(environment=environment)
    if not here.out.asks or inside_a_run() or not _untrusted(app):
        return app
    app.close()
    consent = Consent(app.paths.root)
    if agreed := ask_for_each(here.out, consent, [item for item in consent.pending() if readable(item)]):
        consent.agree(agreed)
    return here.open(environment=environment)


def _untrusted(app: App) -> list[str]:
    names = dict.fromkeys(f"`{one.name}`" for one in app.found if one.status is HandlerStatus.UNTRUSTED)
    if not names:
        return []
    return [f"not trusted, so not run: {', '.join(names)}; `samuel trust` shows the content and asks"]
