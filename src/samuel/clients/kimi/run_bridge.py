"""Kimi Code: hooks from the config.toml of a home directory of its own."""

from __future__ import annotations

from samuel.base.errors import SamuelError
from samuel.clients.entries.toml_hooks import hook_block
from samuel.clients.run_bridge.bridge_plan import BridgePlan, BridgeRequest, HomeOverlay
from samuel.clients.table import LAYOUTS
from samuel.files.toml.lines import toml_values

CONFIG = "config.toml"
HOME = "KIMI_CODE_HOME"


def bridge(request: BridgeRequest) -> BridgePlan:
    own = LAYOUTS["kimi"].home_of(request.host)
    try:
        config = (own / CONFIG).read_text("utf-8")
        hooks = toml_values(config).get("hooks", [])
    except FileNotFoundError:
        config, hooks = "", []
    except ValueError as error:
        raise SamuelError(
            f"`{own / CONFIG}` cannot be read: {error}", "fix it: kimi does not start with it"
        ) from None
    if hooks and "[[hooks]]" not in config:
        raise SamuelError(f"`{own / CONFIG}` has `hooks` in one line", "write each as a table `[[hooks]]`")
    blocks = "".join(f"\n{hook_block(event, request.line(event))}\n" for event in request.events)
    files = {CONFIG: f"{config}\n{blocks}".encode()}
    home = HomeOverlay(own, request.home, (CONFIG,), files, directories=("credentials",))
    return BridgePlan(env={HOME: str(request.home)}, home=home)
