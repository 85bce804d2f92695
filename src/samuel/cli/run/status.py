from __future__ import annotations

import click

from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.output import OutputTable
from samuel.cli.run import run_file, state_directory, task_store
from samuel.cli.run.start import plain


@click.command()
@json_option
@click.pass_obj
def status(here: CommandContext) -> int:
    """Count the tasks by status; show how the last run ended.

    \b
        samuel run status --json
    """
    directory = state_directory(here)
    tasks = task_store(directory).load()
    run = run_file(directory).load()
    counts = {
        name: sum(task.status == name for task in tasks) for name in dict.fromkeys(task.status for task in tasks)
    }
    data = {"counts": counts, "exit_reason": "", "usage": {}, **(plain(run) if run else {})}
    rows: list[tuple[str, str]] = [(name, str(count)) for name, count in counts.items()]
    if run:
        rows += [("last run", run.exit_reason or "not ended"), ("iterations", str(run.iterations_run))]
        rows += [(name, str(value)) for name, value in run.usage.items()]
    return here.out.answer(data, OutputTable(("what", "how many"), rows))
