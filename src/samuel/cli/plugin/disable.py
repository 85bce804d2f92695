from __future__ import annotations

import click

from samuel.cli.here import Here, json_option
from samuel.cli.plugin import consent


@click.command()
@click.argument("name")
@json_option
@click.pass_obj
def disable(here: Here, name: str) -> int:
    """Keep a plugin out of this project.

    Written to samuel.toml, so it holds for everybody who works on the project.

    \b
        samuel plugin disable org/repo
    """
    plugin = consent.switch(here, name, enabled=False)
    return here.out.answer(
        {"name": plugin.title, "enabled": False}, f"{plugin.title} takes no part in this project."
    )
