from __future__ import annotations

from samuel.base.wording import plural
from samuel.cli.command_context import CommandContext, command
from samuel.cli.knowledge.route import knowledge_of
from samuel.routing.knowledge.lint import lint as find_problems


@command()
def lint(here: CommandContext) -> int:
    """Check ROUTING.md and the documents it leads to.

    \b
        samuel knowledge lint
    """
    knowledge_base = knowledge_of(here)
    problems = find_problems(knowledge_base)
    count = len(knowledge_base.indexes)
    text = "\n".join(map(str, problems)) or f"{plural(count, 'topic')}, and nothing is wrong"
    return here.out.answer({"problems": [problem._asdict() for problem in problems]}, text, ok=not problems)
