"""Codex: hooks as settings on the command line. Without its own trust or this flag, no hook runs."""

from __future__ import annotations

from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.toml_hooks import toml_string
from samuel.clients.run_bridge.bridge_plan import BridgePlan, BridgeRequest


def bridge(request: BridgeRequest) -> BridgePlan:
    words = ["--dangerously-bypass-hook-trust", "-c", "features.hooks=true"]
    for event in request.events:
        hook = f'{{type="command",command={toml_string(request.line(event))},timeout={TIMEOUT}}}'
        words += ("-c", f'hooks.{event}=[{{matcher="*",hooks=[{hook}]}}]')
    return BridgePlan(tuple(words))
