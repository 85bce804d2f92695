"""The hooks of Codex are in a file of their own. It runs those that its user reviewed."""

from __future__ import annotations

from samuel.clients.codex.trust import is_trusted
from samuel.clients.entries.bridge_plan import BridgePlan, BridgeRequest
from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.hook_trust import TrustFacts
from samuel.clients.entries.json_hooks import JsonHooks, grouped_entry
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, home_directory
from samuel.clients.entries.toml_hooks import toml_string

HOOKS = JsonHooks("codex", grouped_entry)
SKIPS = "codex skips hooks that were not reviewed, and says nothing"

LAYOUT = ClientLayout(
    program="codex",
    project=(EntryFile(".codex/hooks.json", HOOKS),),
    user=(EntryFile("hooks.json", HOOKS),),
    home=home_directory(".codex", "CODEX_HOME"),
    command=CommandFacts(session_directory="*/codex-arg0*", exit_code_denies=True),
    trust=TrustFacts(
        {
            "project": "start `codex` in this directory, trust the directory, then review the hooks with "
            f"`/hooks`; {SKIPS}",
            "user": f"start `codex` and review the hooks with `/hooks`; {SKIPS}",
        },
        is_trusted,
    ),
)


def bridge(request: BridgeRequest) -> BridgePlan:
    """Hooks as settings on the command line. Without its own trust or this flag, no hook runs."""
    words = ["--dangerously-bypass-hook-trust", "-c", "features.hooks=true"]
    for event in request.events:
        hook = f'{{type="command",command={toml_string(request.line(event))},timeout={TIMEOUT}}}'
        words += ("-c", f'hooks.{event}=[{{matcher="*",hooks=[{hook}]}}]')
    return BridgePlan(tuple(words))
