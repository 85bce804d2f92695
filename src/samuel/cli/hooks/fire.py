from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from samuel.app import App
from samuel.app.embedding import payload
from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.json_input import json_input_option, read_json_object
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import EventType, canonical, event_type
from samuel.events.schema import sample
from samuel.hooks.handler import HandlerStatus


@command()
@click.argument("event")
@json_input_option("--payload", "payload_json", default="{}", help="The event's fields; {} by default.")
@click.option("--really", is_flag=True, help="Fire an event whose handlers do what cannot be undone.")
@env_option
def fire(here: CommandContext, event: str, payload_json: str, really: bool, environment: str) -> int:
    """Fire an event and show the result of its hooks.

    Required fields that are missing in the payload get sample values. Hooks of a repository run only if you
    trust them.

    \b
        samuel hooks fire quality.check --payload '{"commands": ["pytest -q"]}'
    """
    kind = event_type(event)
    if kind.irreversible and not really:
        raise UsageError(
            f"the handlers of `{kind.name}` do what cannot be undone", "add `--really` to fire it all the same"
        )
    fields = _without_name(kind, read_json_object(payload_json, "--payload", here.directory))
    samples = {name: value for name, value in sample(kind).items() if name not in fields}
    fired_event = payload(kind.name, {**samples, **fields})
    notes = [f"`{name}` was not given; the sample is {json.dumps(value)}" for name, value in samples.items()]

    here.offer_trust()
    with here.open(environment=environment) as app:
        notes += _untrusted(app)
        fired = app.fire(fired_event if "context" in fields else app.with_context(fired_event))
        notes += app.unasked_hooks(fired)
    warnings = [*notes, *fired.warnings, *app.warnings]
    here.out.warn(*warnings)
    here.out.object(_plain(kind, fired, warnings))
    return 0 if fired.ok else 1


def _plain(kind: EventType, fired: Fired, warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "event": kind.name,
        "ok": fired.ok,
        "result": msgspec.to_builtins(fired.result),
        "chain": [_plain_call(call) for call in fired.calls],
        **({"background": list(fired.background)} if fired.background else {}),
        "warnings": list(warnings),
    }


def _plain_call(call: HandlerCall) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "handler": call.handler.name,
        "outcome": call.outcome.value,
        "duration_ms": round(call.duration_ms, 3),
        "message": call.message,
    }
    if call.would:  # an observed handler
        fields["would"] = {"verdict": call.would.verdict, "reason": call.would.reason}
    return fields


def _without_name(kind: EventType, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields without the event's name: a payload that was copied from the journal has it."""
    name = fields.pop("event", kind.name)
    if not isinstance(name, str) or canonical(name) != kind.name:
        raise UsageError(
            f"the payload is for the event `{name}`, not for `{kind.name}`", "fire the event it belongs to"
        )
    return fields


def _untrusted(app: App) -> list[str]:
    names = dict.fromkeys(
        f"`{handler.name}`" for handler in app.handlers if handler.status is HandlerStatus.UNTRUSTED
    )
    if not names:
        return []
    return [f"not trusted, so not run: {', '.join(names)}; `samuel trust` shows the content and asks"]
