"""Claude Code: `--settings` takes hooks on the command line, where nothing can change them."""

from __future__ import annotations

from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.run_bridge.bridge_plan import BridgePlan, BridgeRequest, for_every_tool
from samuel.files.json import write


def bridge(request: BridgeRequest) -> BridgePlan:
    hooks = {event: [for_every_tool(request.line(event), TIMEOUT)] for event in request.events}
    # The settings of a project could turn all hooks off; those of the command line stand above them.
    settings = {"hooks": hooks, "disableAllHooks": False}
    return BridgePlan(("--settings", write(settings).decode()))
