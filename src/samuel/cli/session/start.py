from __future__ import annotations

import click

from samuel.cli.here import Here, env_option, json_option
from samuel.cli.session import words
from samuel.errors import SamuelError
from samuel.events import SessionStart
from samuel.process.git import Git, WorkTree


@click.command()
@click.option("--id", "id", metavar="ID", default="", help="Its name; a new one without.")
@env_option
@json_option
@click.pass_obj
def start(here: Here, id: str, environment: str) -> int:
    """Begin a session.

    \b
        samuel session start --id s1
    """
    with here.open(environment=environment) as app:
        id = id or app.clock.new_id("sess")
        keeper = app.keeper(here.confirm)
        keeper.begin(id, _tree(Git(app.paths.root, app.variables)))
        kept = keeper.fire(id, SessionStart())
    return words.answer(here, app, kept, f"session `{id}` has begun")


def _tree(git: Git) -> WorkTree | None:
    """The work tree as it is, so that what is changed can be told at the end; nothing where git cannot say."""
    try:
        tree = git.work_tree() if git.available and git.is_repository else None
    except SamuelError:
        return None
    # A name that is not UTF-8 could not be written down.
    return tree if tree is None or all(path.isprintable() for path in tree.differing) else None
