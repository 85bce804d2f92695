"""Codex: hooks as settings on the command line. Without its own trust or this flag, no hook runs."""

from __future__ import annotations

import json

from samuel.bridges.entries.hook_command import TIMEOUT
from samuel.bridges.process.process_bridge import BridgeRequest, ProcessBridge


def bridge(request: BridgeRequest) -> ProcessBridge:
    words = ["--dangerously-bypass-hook-trust", "-c", "features.hooks=true"]
    for event in request.events:
        # A JSON string of printable characters is a TOML basic string.
        command = json.dumps(request.line(event), ensure_ascii=False)
        hook = f'{{type="command",command={command},timeout={TIMEOUT}}}'
        words += ("-c", f'hooks.{event}=[{{matcher="*",hooks=[{hook}]}}]')
    return ProcessBridge(tuple(words))
