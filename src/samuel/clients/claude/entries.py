"""The hooks of Claude Code are in its settings."""

from __future__ import annotations

from samuel.clients.claude.dialect import EVENTS
from samuel.clients.claude.mods import mods
from samuel.clients.dialect.events import DENIABLE
from samuel.clients.entries.bridge_plan import BridgePlan, BridgeRequest
from samuel.clients.entries.hook_command import TIMEOUT, EmitCommand
from samuel.clients.entries.hook_trust import TrustFacts, TrustQuestion
from samuel.clients.entries.json_hooks import JsonHooks, grouped_entry
from samuel.clients.entries.layout import (
    ClientLayout,
    CommandFacts,
    EntryFile,
    ManagedFile,
    OffSwitch,
    home_directory,
)
from samuel.clients.entries.settings_file import read_settings, table_in
from samuel.files.json import write


def closed_entry(event: str, command: str) -> dict[str, object]:
    """An entry that Claude Code denies by itself if the command cannot start, fails or takes too long."""
    entry = {"type": "command", "command": command, "timeout": TIMEOUT}
    return {"hooks": [{**entry, "onFailure": "block"} if EVENTS[event] in DENIABLE else entry]}


HOOKS = JsonHooks("claude", grouped_entry, closed_entry, byte_order_mark=True)
MODS = "cc-plugin-sec-default@builtin"  # the plugin of Claude Code that keeps mods of users out


def managed_settings(command: EmitCommand) -> dict[str, object]:
    """Settings of an administrator, above those of users and projects: only these hooks run, and no other mods."""
    return {
        "allowManagedHooksOnly": True,
        "pluginConfigs": {MODS: {"options": {"allowManagedModsOnly": True}}},
        # A version that does not know `onFailure` ignores it.
        "hooks": HOOKS.hooks(command._replace(fails_closed=True)),
    }


def is_trusted(question: TrustQuestion) -> bool:
    # Beside ~/.claude, but inside a directory that CLAUDE_CONFIG_DIR names.
    directory = question.home if question.environment.get("CLAUDE_CONFIG_DIR") else question.home.parent
    projects = table_in(read_settings(directory / ".claude.json"), "projects")
    return any(
        table_in(projects, str(directory)).get("hasTrustDialogAccepted") is True for directory in question.above
    )


LAYOUT = ClientLayout(
    program="claude",
    project=(EntryFile(".claude/settings.json", HOOKS),),
    user=(EntryFile("settings.json", HOOKS),),
    home=home_directory(".claude", "CLAUDE_CONFIG_DIR"),
    command=CommandFacts(project_variable="CLAUDE_PROJECT_DIR", exit_code_denies=True),
    trust=TrustFacts(
        {
            "project": "start `claude` in this directory once and accept its question about trust; "
            "`claude -p` does not ask and runs the hooks"
        },
        is_trusted,
        asks_itself=True,
    ),
    off_switch=OffSwitch(("disableAllHooks",), True),
    managed=ManagedFile(
        {
            "linux": "/etc/claude-code/managed-settings.json",
            "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
        },
        managed_settings,
    ),
    rivals=mods,
)


def bridge(request: BridgeRequest) -> BridgePlan:
    """`--settings` takes hooks on the command line, where nothing can change them."""
    # The settings of a project could turn all hooks off; those of the command line stand above them. A version
    # that does not know `onFailure` ignores it.
    settings: dict[str, object] = {"hooks": request.hooks(closed_entry), "disableAllHooks": False}
    if own_mods := mods(LAYOUT.home_of(request.host), request.root):
        settings["enabledPlugins"] = {mod.name: False for mod in own_mods}
    return BridgePlan(("--settings", write(settings).decode()))
