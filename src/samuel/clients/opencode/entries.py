"""opencode loads plugins from a directory; Samuel's is a file of its own there."""

from __future__ import annotations

from samuel.clients.entries.bridge_plan import BridgeFile, BridgePlan, BridgeRequest
from samuel.clients.entries.layout import ClientLayout, EntryFile, home_directory
from samuel.clients.entries.own_file import OwnFile
from samuel.clients.entries.settings_file import list_in, settings_in
from samuel.clients.opencode.dialect import CLIENT
from samuel.clients.opencode.plugin import plugin_text
from samuel.files.json import write

VARIABLE = "OPENCODE_CONFIG_CONTENT"
PLUGIN = OwnFile(plugin_text, "//", CLIENT.registered_events)

LAYOUT = ClientLayout(
    program="opencode",
    project=(EntryFile(".opencode/plugins/samuel.js", PLUGIN),),
    user=(EntryFile("plugins/samuel.js", PLUGIN),),
    home=home_directory(".config/opencode", "XDG_CONFIG_HOME", below="opencode"),
)


def bridge(request: BridgeRequest) -> BridgePlan:
    """A plugin that settings in a variable name."""
    text = plugin_text(request.command, request.events, asks_project_server=False)
    plugin = BridgeFile(request.directory / "samuel.js", text.encode())
    settings = settings_in(request.host.get(VARIABLE) or "{}")
    plugins = [*list_in(settings, "plugin"), plugin.path.as_uri()]
    content = write({**settings, "plugin": plugins}).decode()
    return BridgePlan(env={VARIABLE: content}, files=(plugin,))
