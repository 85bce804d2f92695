"""`samuel serve status` and `stop`: the servers that are running."""

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
            *(str(server.pid), f"{server.uptime_s:.0f}s"),
            *map(str, (server.calls, server.left_to_others, server.under_way)),
            *(f"{server.memory_bytes / _MIB:.0f} MiB", server.last_reason or "-"),
        )
        for server in servers
    ]
    columns = ("pid", "up", "answered", "left", "now", "memory", "why the last was left")
    table = OutputTable(columns, rows, folded=columns[-1:]) if rows else "no server is running"
    return here.out.answer([msgspec.to_builtins(server) for server in servers], table, warnings=warnings)


@command()
def stop(here: CommandContext) -> int:
    """Stop the servers of this project. Calls that are under way get a few seconds to end.

    \b
        samuel serve stop
    """
    installation = installation_of(sys.argv[0], sys.executable)
    pids = [ask(path, wire.STOP).pid for path in sockets(here.root, installation, with_starting=True)]
    lines = [f"told the server {pid} to stop" for pid in pids] or ["no server is running"]
    return here.out.answer({"stopped": pids}, *lines)
