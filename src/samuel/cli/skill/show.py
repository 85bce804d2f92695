from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.skill import skills
from samuel.cli.skill.list import plain
from samuel.skills.text_files import choose


@click.command()
@click.argument("name")
@json_option
@click.pass_obj
def show(here: CommandContext, name: str) -> int:
    """Show a skill: its purpose and its text.

    \b
        samuel skill show code-review
    """
    with here.open() as app:
        one = choose(skills(app), name, "skill")
    facts = [f"{one.name}: {one.description}", f"file: {one.path}"]
    facts += [f"license: {one.license}"] if one.license else []
    facts += [f"compatibility: {one.compatibility}"] if one.compatibility else []
    facts += [f"tools: {', '.join(one.allowed_tools)}"] if one.allowed_tools else []
    data = {**plain(one), "text": one.body}
    warnings = [*one.warnings, *app.warnings]
    return here.out.answer(data, "\n".join(facts), "", one.body.strip("\n"), warnings=warnings)
