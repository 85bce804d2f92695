"""The hooks of Cursor are in a file of their own, for its command line program as well."""

from __future__ import annotations

from samuel.clients.cursor.dialect import CLIENT
from samuel.clients.dialect.events import DENIABLE
from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.hook_trust import TrustFacts
from samuel.clients.entries.json_hooks import JsonHooks
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, home_directory


def entry(event: str, command: str) -> dict[str, object]:
    closed = {"failClosed": True} if CLIENT.events[event] in DENIABLE else {}
    return {"command": command, "timeout": TIMEOUT, **closed}


def denial(event: str, reason: str) -> dict[str, object]:
    if event == "beforeSubmitPrompt":
        return {"continue": False, "user_message": reason}
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


HOOKS = JsonHooks("cursor", entry, new_file={"version": 1})

LAYOUT = ClientLayout(
    program="cursor-agent",
    project=(EntryFile(".cursor/hooks.json", HOOKS),),
    user=(EntryFile("hooks.json", HOOKS),),
    home=home_directory(".cursor"),
    command=CommandFacts(project_variable="CURSOR_PROJECT_DIR", denial=denial),
    trust=TrustFacts({"project": "open this directory in Cursor and trust the workspace"}),
)
