from __future__ import annotations

from pathlib import Path
from typing import Any

from samuel.app.discovery import tool_name_warnings
from samuel.base.errors import Problem
from samuel.base.wording import plural
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.output import OutputTable
from samuel.hooks.handler import Handler, HandlerStatus
from samuel.sources.yaml_cache import YamlHookFile, overlooked
from samuel.sources.yaml_hooks import command as command_of
from samuel.sources.yaml_hooks import missing_program

NONE = "there is no YAML hook: .system/hooks/*.yaml; `samuel hooks list --shipped` shows those you can enable"
COLUMNS = ("file", "id", "events", "status", "reason")


@command()
@env_option
def validate(here: CommandContext, environment: str) -> int:
    """Check every YAML hook.

    \b
        samuel hooks validate
    """
    with here.open(environment=environment) as app:
        states = {handler.file: handler for handler in app.handlers}
        reads = app.discovery.yaml_files.look(app.paths.root)
        examined = [_examined(read, states[read.file], app.paths.root) for read in reads if read.file in states]
    problems = [str(Problem(**problem)) for hook in examined for problem in hook["problems"]]
    tables: list[str | OutputTable] = [OutputTable.of(COLUMNS, examined)] if examined else [NONE]
    blocks = [*tables, *(["", *problems] if problems else [])]
    unread = [
        f"`{name}` is not read: hooks are `.yaml` files right in .system/hooks/" for name in overlooked(here.root)
    ]
    warnings = [*app.warnings, *unread, *tool_name_warnings(app)]
    return here.out.answer(examined, *blocks, ok=not problems, warnings=warnings)


def _examined(read: YamlHookFile, handler: Handler, root: Path) -> dict[str, Any]:
    status, reason, problems = handler.status, handler.reason, list(read.problems)
    if status is HandlerStatus.BROKEN and not problems:
        problems.append(Problem(reason, read.file))
    # Also for hooks that are not trusted yet: to look for a file runs nothing.
    waits = status is not HandlerStatus.BROKEN and read.hook is not None and read.hook.enabled
    if waits and read.hook and (missing := missing_program(command_of(read.hook, root))):
        problems.append(Problem(missing, read.file))
    return {
        "file": read.file,
        "id": read.hook.id if read.hook else "",
        "events": ", ".join(read.hook.spelled) if read.hook else "",
        "status": status.value,
        "reason": reason
        if status is not HandlerStatus.BROKEN
        else f"{plural(len(problems), 'problem')}, see below",
        "problems": [problem._asdict() for problem in problems],
    }
