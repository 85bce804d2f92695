from __future__ import annotations

import click

from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext


@click.command()
@click.option(
    "--write", is_flag=True, help="Offer the tools that change something: answer, say, pause and resume."
)
@click.pass_obj
def mcp(here: CommandContext, write: bool) -> int:
    """Show the run to a chat client, over the Model Context Protocol.

    It talks on standard input and output, and is started by the client. The tools are run_status, questions and
    tasks; with `--write` also answer, say, pause and resume. It ends with its input. It needs the extra
    `samuel-loop[mcp]`.

    \b
        samuel mcp --write
    """
    # Reads many modules, and the SDK is an extra.
    from samuel.mcp_server.run_tools import RunTools

    try:
        from samuel.mcp_server.server import serve
    except ImportError as error:
        if (error.name or "").startswith("samuel"):
            raise
        raise SamuelError(
            "`samuel mcp` needs the Python SDK of MCP, version 2", "`pip install 'samuel-loop[mcp]'` installs it"
        ) from error
    serve(RunTools(here.root), write=write)
    return 0
