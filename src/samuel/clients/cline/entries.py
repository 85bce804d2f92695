"""The hooks of Cline are executable files in a directory, one for each event."""

from __future__ import annotations

import os

from samuel.clients.cline.dialect import CLIENT
from samuel.clients.entries.bridge_plan import BridgeFile, BridgePlan, BridgeRequest, HomeOverlay
from samuel.clients.entries.hook_command import EmitCommand, hook_script
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, home_directory
from samuel.clients.entries.own_file import OwnFile

HOME, HOOKS = "CLINE_DIR", "hooks"


def scripts(directory: str) -> tuple[EntryFile, ...]:
    return tuple(EntryFile(f"{directory}/{event}", _script(event)) for event in CLIENT.registered_events)


def _script(event: str) -> OwnFile:
    return OwnFile(lambda command: _script_text(command, event), "#", (event,), executable=True)


def _script_text(command: EmitCommand, event: str) -> str:
    return f"#!/bin/sh\n{hook_script(command, 'cline', event)}\n"


def denial(event: str, reason: str) -> dict[str, object]:
    return {"cancel": True, "errorMessage": reason}


LAYOUT = ClientLayout(
    program="cline",
    project=scripts(".clinerules/hooks"),
    user=scripts(HOOKS),
    home=home_directory(".cline", HOME),
    command=CommandFacts(denial=denial),
)


def bridge(request: BridgeRequest) -> BridgePlan:
    """Hooks from `hooks` of a home directory for the process: Cline ignores its own option `--hooks-dir`."""
    own = LAYOUT.home_of(request.host)
    try:
        others = [name for name in os.listdir(own / HOOKS) if name not in request.events]
    except OSError:  # the user has none
        others = []
    home = HomeOverlay(
        own,
        request.home,
        (HOOKS,),
        links=tuple(f"{HOOKS}/{name}" for name in others),
        directories=(HOOKS, "rules", "data/settings"),
    )
    files = tuple(
        BridgeFile(request.home / HOOKS / event, _script_text(request.command, event).encode(), 0o700)
        for event in request.events
    )
    # One session of its own: the tools of a shared daemon would not see the run.
    env = {HOME: str(request.home), "CLINE_SESSION_BACKEND_MODE": "local"}
    return BridgePlan(env=env, files=files, home=home)
