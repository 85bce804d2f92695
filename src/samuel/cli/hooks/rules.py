from __future__ import annotations

import click

from samuel.base.errors import SamuelError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.cli.command_context import CommandContext, command
from samuel.cli.output import OutputTable
from samuel.process.inside_a_run import refuse_inside_a_run
from samuel.setup.hook_switch import hook_file, set_off
from samuel.shipped.shell_guard.catalogue import AREAS, GUARD_RULES

SHELL_GUARD = "shell_guard"
COLUMNS = ("id", "decision", "area", "example")


@command()
@click.argument("id")
@click.option("--off", metavar="RULE", multiple=True, help="Switch this rule off.")
@click.option("--on", metavar="RULE", multiple=True, help="Switch this rule on again.")
def rules(here: CommandContext, id: str, off: tuple[str, ...], on: tuple[str, ...]) -> int:
    """List the rules of shell_guard, or switch one off.

    A rule that is off is written to `off:` in .system/hooks/shell_guard.yaml.

    \b
        samuel hooks rules shell_guard
        samuel hooks rules shell_guard --off git-stash-drop
    """
    if id != SHELL_GUARD:
        raise UsageError(
            f"`{id}` has no rules to list", "`samuel hooks rules shell_guard` lists those of shell_guard"
        )
    for name in (*off, *on):
        if name not in GUARD_RULES:
            hint = did_you_mean(name, GUARD_RULES, "`samuel hooks rules shell_guard` lists them")
            raise UsageError(f"shell_guard has no rule `{name}`", hint)
    if off or on:
        refuse_inside_a_run()
    with here.open() as app:
        reads = [read.hook for read in app.discovery.yaml_files.look(app.paths.root) if read.hook]
        is_here = any(hook.id == SHELL_GUARD for hook in reads)
        switched_off = [
            str(name) for hook in reads if hook.id == SHELL_GUARD for name in hook.config.get("off", ())
        ]
        warnings = list(app.warnings)
        if off or on:
            if not is_here:
                raise SamuelError(
                    "the project does not have shell_guard", "`samuel hooks enable shell_guard` adds it"
                )
            switched_off = [name for name in dict.fromkeys((*switched_off, *off)) if name not in on]
            switched = set_off(app, hook_file(app, SHELL_GUARD), switched_off)
            if not switched.trusted:
                warnings.append(f"`{switched.file}` is not trusted yet; `samuel trust` shows it and asks")
    rows = [
        {
            "id": rule.id,
            "decision": rule.decision,
            "area": area.name,
            "example": rule.example,
            "why": rule.why,
            "off": rule.id in switched_off,
        }
        for area in AREAS
        for rule in area.rules
    ]
    table_rows = [{**row, "decision": "off" if row["off"] else row["decision"]} for row in rows]
    return here.out.answer(rows, OutputTable.of(COLUMNS, table_rows), warnings=warnings)
