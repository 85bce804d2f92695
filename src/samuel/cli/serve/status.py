from __future__ import annotations

import sys

import msgspec

from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.emit.serve import wire
from samuel.emit.serve.control import ask
from samuel.emit.serve.start import sockets
from samuel.process.emit_client import installation_of

_MIB = 1024 * 1024


@command()
def status(here: CommandContext) -> int:
    """Show the servers of this project: one for each set of environment variables that hooks see.

    \b
        samuel serve status
    """
    servers, warnings = [], []
    for path in sockets(here.root, installation_of(sys.argv[0], sys.executable)):
        try:
            servers.append(ask(path, wire.STATUS))
        except SamuelError as error:
            warnings.append(str(error))
    rows = [
        (
            str(server.pid),
            f"{server.uptime_s:.0f}s",
            str(server.calls),
            str(server.left_to_others),
            str(server.under_way),
            f"{server.memory_bytes / _MIB:.0f} MiB",
            server.last_reason or "-",
        )
        for server in servers
    ]
    columns = ("pid", "up", "answered", "left", "now", "memory", "why the last was left")
    table = OutputTable(columns, rows, folded=columns[-1:]) if rows else "no server is running"
    return here.out.answer([msgspec.to_builtins(server) for server in servers], table, warnings=warnings)
