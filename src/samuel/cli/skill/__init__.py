"""`samuel skill`: the table of its commands, and where they find skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from samuel.cli.lazy import CommandEntry, LazyGroup

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.skills.skill import Skill

COMMANDS = {
    "list": CommandEntry("List the skills and where they come from."),
    "show": CommandEntry("Show a skill: its purpose and its text."),
}


@click.group(cls=LazyGroup, package=__name__, table=COMMANDS)
def skill() -> None:
    """List the SKILL.md files offered to agents.

    \b
        samuel skill list
    """


def skills(app: App) -> list[Skill]:
    """The skills of the project, of its user, and of enabled plugins."""
    from samuel.skills.find_skills import find_skills  # YAML, which the other groups do without

    return find_skills(app.paths.root, app.user.home, app.plugins.usable)
