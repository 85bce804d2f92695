from __future__ import annotations

import sys

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.emit.serve import wire
from samuel.emit.serve.control import ask
from samuel.emit.serve.start import sockets
from samuel.process.emit_client import installation_of


@click.command()
@json_option
@click.pass_obj
def stop(here: CommandContext) -> int:
    """Stop the servers of this project. Calls that are under way get a few seconds to end.

    \b
        samuel serve stop
    """
    installation = installation_of(sys.argv[0], sys.executable)
    pids = [ask(path, wire.STOP).pid for path in sockets(here.root, installation, with_starting=True)]
    lines = [f"told the server {pid} to stop" for pid in pids] or ["no server is running"]
    return here.out.answer({"stopped": pids}, *lines)
