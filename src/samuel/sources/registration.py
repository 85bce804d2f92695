"""The registration: the enabled YAML hooks grouped by event type, as `samuel hooks register` prints them.

{"PostAbilityCall": [{"id": "tracker", "handler": {"kind": "script", "command": "./scripts/hooks/tracker.sh"}}]}
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from samuel.events.names import ALL
from samuel.hooks.handler import DEFAULT_ORDER
from samuel.sources.environment import Environment
from samuel.sources.yaml_cache import YamlHookFile
from samuel.sources.yaml_command import command, missing_program
from samuel.sources.yaml_hook import YamlHook

Registration = dict[str, list[dict[str, Any]]]


def registration(reads: Iterable[YamlHookFile], environment: Environment, root: Path) -> Registration:
    """The hooks of each event in the order of its chain; events are spelled as in the files."""
    hooks: dict[str, YamlHook] = {}
    for read in reads:
        if read.hook is None or read.hook.switched_off(read.file) or environment.inactive(read.hook):
            continue
        other = hooks.setdefault(read.hook.id, read.hook)
        if other is not read.hook and missing_program(command(other, root)):  # the first that works runs
            hooks[read.hook.id] = read.hook
    entries = [
        (ALL.index(event), _order(hook), hook.id, spelled, hook)
        for hook in hooks.values()
        for event, spelled in zip(hook.events, hook.spelled, strict=True)
        if environment.holds(hook, event)
    ]
    by_event: Registration = {}
    for *_, spelled, hook in sorted(entries, key=lambda entry: entry[:3]):
        handler = {"kind": hook.kind, "command": hook.command}
        by_event.setdefault(spelled, []).append({"id": hook.id, "handler": handler})
    return by_event


def _order(hook: YamlHook) -> int:
    return DEFAULT_ORDER if hook.order is None else hook.order
