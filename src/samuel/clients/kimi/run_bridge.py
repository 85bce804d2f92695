"""Kimi Code: hooks from the config.toml of a home directory of its own."""

from __future__ import annotations

from samuel.base.errors import SamuelError
from samuel.clients.entries.toml_hooks import hook_block
from samuel.clients.run_bridge.overlay import as_private, overlay_home
from samuel.clients.run_bridge.process_bridge import BridgeRequest, ProcessBridge
from samuel.clients.table import LAYOUTS
from samuel.files import atomic
from samuel.files.toml.values import toml_values

CONFIG = "config.toml"
HOME = "KIMI_CODE_HOME"


def bridge(request: BridgeRequest) -> ProcessBridge:
    own = LAYOUTS["kimi"].home_of(request.host)
    overlay_home(own, request.home, (CONFIG,))
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
    # The client writes to this file itself, so what it is in the end proves nothing.
    atomic.write_bytes(request.home / CONFIG, f"{config}\n{blocks}".encode(), 0o600, durable=False)
    return ProcessBridge(env={HOME: str(request.home)}, homes=(as_private(request.home, ("credentials",)),))
