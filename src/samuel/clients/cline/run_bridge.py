"""Cline CLI: hooks are programs in `hooks` of its home directory. It ignores its own option `--hooks-dir`."""

from __future__ import annotations

import os
from contextlib import suppress

from samuel.clients.run_bridge.overlay import as_private, overlay_home
from samuel.clients.run_bridge.process_bridge import BridgeRequest, ProcessBridge
from samuel.clients.table import LAYOUTS

HOME = "CLINE_DIR"


def bridge(request: BridgeRequest) -> ProcessBridge:
    own = LAYOUTS["cline"].home_of(request.host)
    overlay_home(own, request.home, ("hooks",))
    hooks = request.home / "hooks"
    hooks.mkdir(mode=0o700)
    with suppress(OSError):
        for name in os.listdir(own / "hooks"):
            if name not in request.events:
                (hooks / name).symlink_to(own / "hooks" / name)
    for event in request.events:
        script = f"#!/bin/sh\n{request.script(event)}\n"
        request.put(hooks / event, script.encode(), 0o700)
    # One session of its own: the tools of a shared daemon would not see the run.
    env = {HOME: str(request.home), "CLINE_SESSION_BACKEND_MODE": "local"}
    return ProcessBridge(env=env, homes=(as_private(request.home, ("hooks", "rules", "data/settings")),))
