from __future__ import annotations

import sys

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.process.emit_client import installation_of
from samuel.serve import wire
from samuel.serve.control import ask
from samuel.serve.start import sockets


@click.command()
@json_option
@click.pass_obj
def stop(here: CommandContext) -> int:
    """Stop the servers of this project. Calls that are under way get a few seconds to end.

    \b
        samuel serve stop
    """
    installation = installation_of(sys.argv[0], sys.executable)
    pids = [ask(path, wire.STOP).pid for path in sockets(here.root, installation, await_starting=True)]
    lines = [f"told the server {pid} to stop" for pid in pids] or ["no server is running"]
    return here.out.answer({"stopped": pids}, *lines)
