from __future__ import annotations

from samuel.cli.ability.list import abilities
from samuel.cli.command_context import CommandContext, command
from samuel.routing.abilities.lint import lint as find_problems


@command()
def lint(here: CommandContext) -> int:
    """Check the registry and ABILITY.md.

    \b
        samuel ability lint
    """
    registry = abilities(here)
    problems = find_problems(here.root, registry)
    count = len(registry.abilities)
    text = "\n".join(map(str, problems)) or f"{count} abilit{'y' if count == 1 else 'ies'}, and nothing is wrong"
    return here.out.answer({"problems": [problem._asdict() for problem in problems]}, text, ok=not problems)
