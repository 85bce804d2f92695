"""The hooks of Antigravity CLI are in a file of their own, in a group for each tool that has them."""

from __future__ import annotations

from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.hook_trust import TrustFacts
from samuel.clients.entries.json_hooks import JsonHooks
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, home_directory


def entry(event: str, command: str) -> dict[str, object]:
    hook: dict[str, object] = {"type": "command", "command": command, "timeout": TIMEOUT}
    # Only the events of tools have a matcher, and a group around the hook.
    return {"matcher": "", "hooks": [hook]} if event in ("PreToolUse", "PostToolUse") else hook


def denial(event: str, reason: str) -> dict[str, object]:
    return {"decision": "deny", "reason": reason}


HOOKS = JsonHooks("agy", entry, key="samuel")

LAYOUT = ClientLayout(
    program="agy",
    project=(EntryFile(".agents/hooks.json", HOOKS),),
    user=(EntryFile("hooks.json", HOOKS),),
    home=home_directory(".gemini/config"),
    command=CommandFacts(denial=denial),
    trust=TrustFacts({"project": "start `agy` in this directory and trust the workspace"}),
)
