"""The hooks of Cline are executable files in a directory, one for each event."""

from __future__ import annotations

from samuel.clients.cline.dialect import CLIENT
from samuel.clients.entries.entry_file import EntryFile
from samuel.clients.entries.hook_command import EmitCommand, hook_script
from samuel.clients.entries.layout import ClientLayout, CommandFacts, home_directory
from samuel.clients.entries.own_file import OwnFile


def scripts(directory: str) -> tuple[EntryFile, ...]:
    return tuple(EntryFile(f"{directory}/{event}", _script(event)) for event in CLIENT.registered_events)


def _script(event: str) -> OwnFile:
    def body(command: EmitCommand) -> str:
        return f"#!/bin/sh\n{hook_script(command, 'cline', event)}\n"

    return OwnFile(body, "#", (event,), executable=True)


def denial(event: str, reason: str) -> dict[str, object]:
    return {"cancel": True, "errorMessage": reason}


LAYOUT = ClientLayout(
    program="cline",
    project=scripts(".clinerules/hooks"),
    user=scripts("hooks"),
    home=home_directory(".cline", "CLINE_DIR"),
    command=CommandFacts(denial=denial),
)
