"""Cline CLI: hooks are programs in `hooks` of its home directory. It ignores its own option `--hooks-dir`."""

from __future__ import annotations

import os

from samuel.clients.run_bridge.bridge_plan import BridgeFile, BridgePlan, BridgeRequest, HomeOverlay
from samuel.clients.table import LAYOUTS

HOME = "CLINE_DIR"
HOOKS = "hooks"


def bridge(request: BridgeRequest) -> BridgePlan:
    own = LAYOUTS["cline"].home_of(request.host)
    try:
        others = [name for name in os.listdir(own / HOOKS) if name not in request.events]
    except OSError:  # the user has none
        others = []
    home = HomeOverlay(
        own,
        request.home,
        (HOOKS,),
        links=tuple(f"{HOOKS}/{name}" for name in others),
        directories=(HOOKS, "rules", "data/settings"),
    )
    scripts = tuple(
        BridgeFile(request.home / HOOKS / event, f"#!/bin/sh\n{request.script(event)}\n".encode(), 0o700)
        for event in request.events
    )
    # One session of its own: the tools of a shared daemon would not see the run.
    env = {HOME: str(request.home), "CLINE_SESSION_BACKEND_MODE": "local"}
    return BridgePlan(env=env, files=scripts, home=home)
