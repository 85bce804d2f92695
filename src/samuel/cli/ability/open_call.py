"""What `create`, `run`, `call` and `delete` share: the project opened for a call, and the result of a call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import click
import msgspec
from msgspec import UNSET

from samuel import config
from samuel.app import App, Overrides
from samuel.app.ability import execution
from samuel.base import paths
from samuel.cli.ability import abilities
from samuel.cli.command_context import CommandContext
from samuel.cli.json_input import json_input_option
from samuel.cli.session.options import VARIABLE
from samuel.config.model import Config
from samuel.dispatch.record import Fired
from samuel.emit import host
from samuel.events import Event
from samuel.routing.abilities.execution.call_store import CallStore
from samuel.routing.abilities.execution.execute import AbilityRunner, CallResult, CreatedCall
from samuel.routing.abilities.model import PromptImplementation

input_option = json_input_option(
    "--input", "input_json", default="{}", help="The input, a JSON object; {} by default."
)
intent_option = click.option(
    "--intent", metavar="TEXT", default="", help="Why it is called; stored in the record. `-` reads stdin."
)


class Calling(NamedTuple):
    app: App
    execution: AbilityRunner


@contextmanager
def opened(here: CommandContext, name: str, session: str, environment: str) -> Iterator[Calling]:
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

        yield Calling(app, execution(app, registry, fire, session))


def ability_of(here: CommandContext, key: str) -> str:
    """The id of the ability that this call is for."""
    return CallStore(here.root).load(key).ability_id


def created(call: CreatedCall) -> dict[str, Any]:
    if call.refused:
        return {
            "status": "unavailable",
            "reason": call.refused.reason,
            "suggestion": call.refused.suggestion,
        }
    return {"status": "available", "call_key": call.key, "warnings": list(call.warnings)}


def answer(here: CommandContext, ended: CallResult, app: App) -> int:
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
        "ability_id": call.ability_id,
        "operation_key": call.operation_key,
        "output": None if call.output is UNSET else call.output,
        "error": call.error or ended.stopped,
        "input_changed": call.final_input is not UNSET,
        "duration_ms": call.duration_ms,
        "tool_call_path": record,
        "parent": call.parent,
        "children": list(call.children),
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
