"""opencode loads plugins from a directory; Samuel's is a file of its own there."""

from __future__ import annotations

from samuel.clients.entries.entry_file import EntryFile
from samuel.clients.entries.layout import ClientLayout, home_directory
from samuel.clients.entries.own_file import OwnFile
from samuel.clients.opencode.dialect import CLIENT
from samuel.clients.opencode.plugin import plugin_text

PLUGIN = OwnFile(plugin_text, "//", CLIENT.registered_events)

LAYOUT = ClientLayout(
    program="opencode",
    project=(EntryFile(".opencode/plugins/samuel.js", PLUGIN),),
    user=(EntryFile("plugins/samuel.js", PLUGIN),),
    home=home_directory(".config/opencode", "XDG_CONFIG_HOME", below="opencode"),
)
