from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, command
from samuel.cli.skill.list import plain, skills
from samuel.skills.text_files import choose


@command()
@click.argument("name")
def show(here: CommandContext, name: str) -> int:
    """Show a skill: its purpose and its text.

    \b
        samuel skill show code-review
    """
    with here.open() as app:
        skill = choose(skills(app), name, "skill")
    facts = [f"{skill.name}: {skill.description}", f"file: {skill.path}"]
    facts += [f"license: {skill.license}"] if skill.license else []
    facts += [f"compatibility: {skill.compatibility}"] if skill.compatibility else []
    facts += [f"tools: {', '.join(skill.allowed_tools)}"] if skill.allowed_tools else []
    data = {**plain(skill), "text": skill.body}
    warnings = [*skill.warnings, *app.warnings]
    return here.out.answer(data, "\n".join(facts), "", skill.body.strip("\n"), warnings=warnings)
