"""The hooks of Kiro are in files of their own, of version v1: one list, in which each hook names its trigger."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from samuel.clients.entries.hook_command import TIMEOUT, EmitCommand, event_of, hook_command
from samuel.clients.entries.layout import BrokenFile, ClientLayout, CommandFacts, EntryFile, home_directory
from samuel.clients.entries.settings_file import list_in, settings_in, table_in
from samuel.clients.kiro.dialect import CLIENT


@dataclass(frozen=True)
class KiroHooks:
    """A file of hooks that belongs to Samuel as a whole."""

    executable: bool = False
    byte_order_mark: bool = False

    def added(self, text: str | None, command: EmitCommand) -> str:
        if text is not None:
            self.removed(text)  # only ours is replaced
        hooks = [_hook(command, event) for event in CLIENT.registered_events]
        return json.dumps({"version": "v1", "hooks": hooks}, indent=2) + "\n"

    def removed(self, text: str) -> str | None:
        hooks = list_in(settings_in(text), "hooks")
        if set(settings_in(text)) != {"version", "hooks"} or len(self.events(text)) != len(hooks):
            raise BrokenFile("another program's hooks are in this file", hint="move them to a file of their own")
        return None

    def events(self, text: str) -> Sequence[str]:
        events = [_event(hook) for hook in list_in(settings_in(text), "hooks")]
        return [event for event in events if event]


def _hook(command: EmitCommand, event: str) -> dict[str, object]:
    action = {"type": "command", "command": hook_command(command, "kiro", event)}
    return {"name": f"samuel-{event}", "trigger": event, "action": action, "timeout": TIMEOUT, "enabled": True}


def _event(hook: Any) -> str:
    """The trigger of a hook that `added` wrote; "" for any other, and for one that is switched off."""
    if not isinstance(hook, dict) or hook.get("enabled", True) is not True or "matcher" in hook:
        return ""
    event = event_of(table_in(hook, "action").get("command"), "kiro")
    return event if event == hook.get("trigger") else ""


HOOKS = KiroHooks()

LAYOUT = ClientLayout(
    program="kiro-cli",
    project=(EntryFile(".kiro/hooks/samuel.json", HOOKS),),
    user=(EntryFile("hooks/samuel.json", HOOKS),),
    home=home_directory(".kiro"),
    command=CommandFacts(exit_code_denies=True),
)
