"""The hooks of Copilot CLI are in files of their own."""

from __future__ import annotations

from samuel.clients.entries.bridge_plan import BridgeFile, BridgePlan, BridgeRequest
from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.hook_trust import TrustFacts, TrustQuestion
from samuel.clients.entries.json_hooks import JsonHooks
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, ManagedFile, home_directory
from samuel.clients.entries.settings_file import list_in, read_settings
from samuel.files.json import write
from samuel.version import __version__


def entry(event: str, command: str) -> dict[str, object]:
    return {"type": "command", "bash": command, "timeoutSec": TIMEOUT}


def denial(event: str, reason: str) -> dict[str, object]:
    """An exit code of 2 would deny, too, but the model would not be told why."""
    if event != "preToolUse":
        return {}
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}


def is_trusted(question: TrustQuestion) -> bool:
    settings = read_settings(question.home / "config.json")
    folders = [*list_in(settings, "trustedFolders"), *list_in(settings, "trusted_folders")]
    return any(str(directory) in folders for directory in question.above)


HOOKS = JsonHooks("copilot", entry, new_file={"version": 1})

LAYOUT = ClientLayout(
    program="copilot",
    project=(EntryFile(".github/hooks/samuel.json", HOOKS),),
    user=(EntryFile("hooks/samuel.json", HOOKS),),
    home=home_directory(".copilot", "COPILOT_HOME"),
    command=CommandFacts(denial=denial),
    trust=TrustFacts(
        {
            "project": "start `copilot` in this directory and trust the folder for future sessions, or give "
            "`--trust-folder` with `copilot -p`"
        },
        is_trusted,
    ),
    managed=ManagedFile(
        dict.fromkeys(("linux", "darwin"), "/etc/github-copilot/policy.d/samuel.json"),
        lambda command: {"version": 1, "hooks": HOOKS.hooks(command)},
    ),
)


def bridge(request: BridgeRequest) -> BridgePlan:
    """Hooks of a plugin that is loaded from a directory for one session, without trust in a folder."""
    plugin = request.directory / "plugin"
    manifest = {"name": "samuel", "version": __version__, "description": "Samuel's hooks", "hooks": "hooks.json"}
    hooks = {event: [entry(event, request.line(event))] for event in request.events}
    files = (
        BridgeFile(plugin / "plugin.json", write(manifest)),
        BridgeFile(plugin / "hooks.json", write({"version": 1, "hooks": hooks})),
    )
    return BridgePlan((f"--plugin-dir={plugin}",), files=files)
