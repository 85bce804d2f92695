from __future__ import annotations

import os
import sys

import click

from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext, command
from samuel.process.inside_a_run import refuse_inside_a_run

PORT = 4747


@command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="N",
    help="The port on 127.0.0.1; 0 takes any that is free.",
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
def dashboard(here: CommandContext, port: int, no_open: bool) -> int:
    """Show the runs of all your projects in the browser.

    It listens on 127.0.0.1 only, until Ctrl-C. The printed address works once: it makes the browser known, which
    stays known for 30 days. Buttons do what the commands of their names do.

    \b
        samuel dashboard --port 0 --no-open
    """
    refuse_inside_a_run("what a person sees and decides")
    try:
        from samuel.dashboard.server import DashboardServer  # an extra, which no other command needs
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise SamuelError(
            f"`{error.name}` is not installed, which the dashboard needs", "install `samuel-loop[web]`"
        ) from None

    server = DashboardServer(paths.User.from_environment(), port)
    address = server.new_address()
    here.out.answer({"address": address, "port": server.port}, address)
    sys.stdout.flush()
    here.out.tell("listening until Ctrl-C; the address works once")
    if not no_open and _has_screen():
        server.open_browser()
    server.serve()
    return 0


def _has_screen() -> bool:
    """Whether a browser can show a window; one in the terminal would take the terminal."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
