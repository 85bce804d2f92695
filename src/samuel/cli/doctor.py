from __future__ import annotations

from functools import partial
from typing import Any

import click

from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.hooks.explain import chain_data, chain_table, left_out_lines
from samuel.cli.output import OutputTable
from samuel.doctor import examine


@command()
@click.option("--hooks", is_flag=True, help="Also show the resolved chain of every event.")
@env_option
def doctor(here: CommandContext, hooks: bool, environment: str) -> int:
    """Check the project and this machine, and say how to fix problems.

    \b
        samuel doctor --hooks
    """
    findings, chains = examine(here.root, partial(here.open, environment=environment))
    data: dict[str, Any] = {"findings": [finding._asdict() for finding in findings]}
    blocks: list[str | OutputTable] = [OutputTable(("level", "what", "what to do"), findings)]
    if hooks:
        data["chains"] = [chain_data(chain) for chain in chains.values()]
        for chain in chains.values():
            blocks += [f"\n{chain.event.name} ({chain.event.composition.name})", chain_table(chain)]
            blocks += [left_out_lines(chain)] if chain.left_out else []
    wrong = any(finding.level == "error" for finding in findings)
    return here.out.answer(data, *blocks, ok=not wrong)
