"""`samuel serve`: the server of a project, and its commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext
from samuel.cli.lazy import CommandEntry, LazyGroup

COMMANDS = {
    "status": CommandEntry("Show the servers of this project.", "servers"),
    "stop": CommandEntry("Stop the servers of this project.", "servers"),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS, invoke_without_command=True)
@click.option("--socket", "path", metavar="PATH", default="", hidden=True)
@click.option("--installation", metavar="DIR", default="", hidden=True)
@click.option("--for-run", is_flag=True, hidden=True)
@click.pass_context
def serve(ctx: click.Context, path: str, installation: str, for_run: bool) -> int | None:
    """Answer `samuel emit` from a process that stays.

    The first `samuel emit` in a project starts a server in the background, if the project has a hook that you
    trust. The calls after it get the same answers in a fraction of the time, which `samuel bench` measures. The
    server ends by itself ten minutes after the last call (`[serve] idle`), and can be stopped or killed at any
    time. `SAMUEL_SERVE=off` does without it.

    Without a command, this runs a server in the foreground, until Ctrl-C.

    \b
        samuel serve status
    """
    if ctx.invoked_subcommand is not None:
        return None
    here: CommandContext = ctx.obj
    if for_run:
        from samuel.emit.serve.for_run import serve_run  # one command of the group needs it

        serve_run(here.root, path, installation)
        return 0
    from samuel.app import App  # the engine
    from samuel.emit.serve.listen import listening
    from samuel.emit.serve.server import Server
    from samuel.emit.serve.socket_name import socket_path
    from samuel.emit.serve.start import prepare_directory, why_not
    from samuel.process.emit_client import installation_of

    root = here.root
    with App(root, search=False) as app:
        if reason := why_not(app):
            raise SamuelError(f"no server is started here: {reason}", "see `samuel serve --help`")
        idle = app.config.serve_idle if app.personal.serve_idle is None else app.personal.serve_idle
    installation = installation or installation_of(sys.argv[0], sys.executable)
    prepare_directory(root)
    path = path or socket_path(str(root), installation, os.environb)
    if not path:
        raise SamuelError("no directory for sockets belongs to you alone", "see `samuel doctor`")
    os.chdir("/")  # so that this process keeps no file system from being unmounted
    with listening(path) as listener:
        here.out.tell(f"listening at {path}")
        Server(listener, path, Path(root), installation, idle).serve()
    return 0
