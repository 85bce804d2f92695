"""The hooks of Kimi Code are in its settings, a TOML file. It reads none from a project."""

from __future__ import annotations

from samuel.base.errors import SamuelError
from samuel.clients.entries.bridge_plan import BridgePlan, BridgeRequest, HomeOverlay
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, home_directory
from samuel.clients.entries.toml_hooks import TomlHooks, hook_block
from samuel.files.toml.lines import toml_values

CONFIG = "config.toml"
HOME = "KIMI_CODE_HOME"

LAYOUT = ClientLayout(
    program="kimi",
    project=(),
    user=(EntryFile(CONFIG, TomlHooks("kimi")),),
    home=home_directory(".kimi-code", HOME),
    command=CommandFacts(exit_code_denies=True),
)


def bridge(request: BridgeRequest) -> BridgePlan:
    """Hooks from the config.toml of a home directory for the process."""
    own = LAYOUT.home_of(request.host)
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
