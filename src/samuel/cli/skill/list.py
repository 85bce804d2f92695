from __future__ import annotations

from samuel.app import App
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable, fields_of
from samuel.hooks.handler import HandlerStatus
from samuel.skills.skill import Skill, find_skills

COLUMNS = ("name", "origin", "status", "description", "reason")


@command("list")
def list_(here: CommandContext) -> int:
    """List the skills and where they come from.

    \b
        samuel skill list
    """
    with here.open() as app:
        skills_found = skills(app)
    data = [plain(skill) for skill in skills_found]
    notes = [
        f"`{skill.path}`: {note}"
        for skill in skills_found
        if skill.status is HandlerStatus.ACTIVE
        for note in skill.warnings
    ]
    return here.out.answer(data, OutputTable.of(COLUMNS, data), warnings=[*notes, *app.warnings])


def skills(app: App) -> list[Skill]:
    """The skills of the project, of its user, and of enabled plugins."""
    return find_skills(app.paths.root, app.user.home, app.plugins.usable)


def plain(skill: Skill) -> dict[str, object]:
    return {
        **fields_of(skill, "name", "description", "license", "compatibility", "metadata", "allowed_tools"),
        "origin": skill.origin.label,
        "path": str(skill.path),
        **fields_of(skill, "status", "reason"),
    }
