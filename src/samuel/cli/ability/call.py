"""`samuel ability create`, `run`, `call` and `delete`: calls of abilities."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec
from msgspec import UNSET

from samuel import config
from samuel.app import App, Overrides
from samuel.app.ability import execution
from samuel.base import paths
from samuel.cli.ability.list import abilities
from samuel.cli.command_context import CommandContext, command, env_option, options
from samuel.cli.json_input import json_input_option, read_json, read_text
from samuel.cli.output import fields_of
from samuel.cli.session.options import VARIABLE, session_option
from samuel.cli.signals import ended_by_signals
from samuel.config.model import Config
from samuel.dispatch.record import Fired
from samuel.emit import host
from samuel.events import Event
from samuel.routing.abilities.execution.call_store import CallStore
from samuel.routing.abilities.execution.execute import AbilityRunner, CallResult, CreatedCall
from samuel.routing.abilities.execution.nesting import settle_killed
from samuel.routing.abilities.model import PromptImplementation

INTENT = "Why it is called; stored in the record. `-` reads stdin."

call_options = options(
    click.argument("id"),
    json_input_option("--input", "input_json", default="{}", help="The input, a JSON object; {} by default."),
    click.option("--intent", metavar="TEXT", default="", help=INTENT),
    session_option,
    env_option,
)


@command()
@call_options
def create(here: CommandContext, id: str, input_json: str, intent: str, session: str, environment: str) -> int:
    """Check a call and prepare it for `run`.

    Prints a JSON object: `available` with the key for `run`, or `unavailable` with the reason.

    \b
        samuel ability create billing_regression --input input.json
    """
    value = read_json(input_json, "--input", here.directory)
    with _opened(here, id, session, environment) as (app, runner):
        call = runner.create(id, value, read_text(intent))
    if here.out.json:
        return here.out.answer(_created(call), ok=not call.refused, warnings=app.warnings)
    here.out.warn(*app.warnings)
    here.out.object(_created(call))
    return 1 if call.refused else 0


@command()
@click.argument("key")
@session_option
@env_option
def run(here: CommandContext, key: str, session: str, environment: str) -> int:
    """Run a prepared call, with its hooks.

    Prints its output as JSON. Exits with 1 if it failed or a hook denied it.

    \b
        samuel ability run call-20250115T102345-0123456789abcdef
    """
    id = CallStore(here.root).load(key).ability_id
    with _opened(here, id, session, environment) as (app, runner), ended_by_signals():
        ended = runner.run(key)
    return _answer(here, ended, app)


@command()
@call_options
def call(here: CommandContext, id: str, input_json: str, intent: str, session: str, environment: str) -> int:
    """Check a call and run it.

    The same as `create` followed by `run`: the output comes on stdout, or the reason why there is none.

    \b
        samuel ability call billing_regression --input '{"suite": "full"}'
    """
    value = read_json(input_json, "--input", here.directory)
    with _opened(here, id, session, environment) as (app, runner), ended_by_signals():
        created_call = runner.create(id, value, read_text(intent))
        ended = None if created_call.refused else runner.run(created_call.key)
    if ended is not None:
        return _answer(here, ended._replace(warnings=(*created_call.warnings, *ended.warnings)), app)
    if here.out.json:
        return here.out.answer(_created(created_call), ok=False, warnings=app.warnings)
    here.out.object(_created(created_call))
    assert created_call.refused is not None
    # For the record of an ability that called this one.
    here.out.tell(f"{id}: unavailable: {created_call.refused.reason}")
    return 1


@command()
@click.argument("key")
def delete(here: CommandContext, key: str) -> int:
    """Delete a call and its record.

    \b
        samuel ability delete call-20250115T102345-0123456789abcdef
    """
    calls = CallStore(here.root)
    settle_killed(calls)
    calls.delete(key)
    return here.out.answer({"deleted": key}, f"deleted `{key}`")


@contextmanager
def _opened(
    here: CommandContext, name: str, session: str, environment: str
) -> Iterator[tuple[App, AbilityRunner]]:
    """The project, opened to call the ability of this name."""
    registry = abilities(here)
    session = session or os.environ.get(VARIABLE, "")
    ability = registry.by_name.get(name)
    implementation = ability.implementation if ability else None
    seconds = implementation.timeout if isinstance(implementation, PromptImplementation) else None
    with here.open(overrides=Overrides(config=_settings(here, seconds), environment=environment)) as app:

        def fire(event: Event) -> Fired:
            fired, follow_ups = host.fire(app, event, here.confirm)
            here.out.tell(*fired.messages, *follow_ups)
            return fired

        yield app, execution(app, registry, fire, session)


def _created(call: CreatedCall) -> dict[str, Any]:
    if call.refused:
        return {"status": "unavailable", **fields_of(call.refused, "reason", "suggestion")}
    return {"status": "available", "call_key": call.key, "warnings": list(call.warnings)}


def _answer(here: CommandContext, ended: CallResult, app: App) -> int:
    """Print the output alone on stdout, or the whole result with `--json`; returns the exit code."""
    call, out = ended.call, here.out
    warnings = [*ended.warnings, *app.warnings]
    record = CallStore(app.paths.root).path(call.key)
    if not out.json:
        out.warn(*warnings)
        if call.output is not UNSET:
            out.object(call.output)
        why = (call.error or ended.stopped).rstrip(".")
        out.tell(f"{call.ability_id}: {call.status.value}{f': {why}' if why else ''}; see {record}")
        return 0 if ended.ok else 1
    data = {
        "status": call.status.value,
        "call_key": call.key,
        **fields_of(call, "ability_id", "operation_key"),
        "output": None if call.output is UNSET else call.output,
        "error": call.error or ended.stopped,
        "input_changed": call.final_input is not UNSET,
        "duration_ms": call.duration_ms,
        "tool_call_path": record,
        **fields_of(call, "parent", "children"),
    }
    return out.answer(data, ok=ended.ok, warnings=warnings)


def _settings(here: CommandContext, seconds: float | None) -> Config:
    """samuel.toml with the agent timeout of this ability."""
    loaded = config.load(here.root / paths.CONFIG)
    if seconds is None:
        return loaded
    chosen = loaded.chosen(loaded.default_methodology)
    timed = msgspec.structs.replace(chosen, agent_timeout=seconds)
    return msgspec.structs.replace(loaded, methodology={**loaded.methodology, chosen.name: timed})
