from __future__ import annotations

from pathlib import Path

import click

from samuel import config, paths
from samuel.cli.consent import Consent
from samuel.cli.here import Here, json_option
from samuel.cli.run import state_directory
from samuel.config.edit import Value, set_value
from samuel.errors import SamuelError
from samuel.ralph.detect import quality_checks
from samuel.tasks.markdown import read
from samuel.tasks.store import TaskStore


@click.command()
@click.option(
    "--prd", "prd", required=True, type=click.Path(path_type=Path), help="The Markdown file with the tasks."
)
@click.option("--agent", default="", help="The agent that works them.")
@click.option("--max-iterations", type=click.IntRange(1), help="The cap of a run.")
@click.option("--methodology", default="", help="Another than default_methodology.")
@click.option("--force", is_flag=True, help="Begin anew, though there are tasks already.")
@json_option
@click.pass_obj
def init(here: Here, prd: Path, agent: str, max_iterations: int | None, methodology: str, force: bool) -> int:
    """Make the task list from a PRD, and write down how it is worked.

    \\b
        samuel run init --prd docs/prd.md --agent claude
    """
    root = here.root
    loaded = config.load(root / paths.CONFIG)
    name = methodology or loaded.default_methodology
    converted = read(here.directory / prd)
    tasks = converted.tasks
    store = TaskStore(state_directory(here, methodology))
    if store.path.exists() and not force:
        raise SamuelError(f"`{store.path}` has tasks already", "`--force` begins anew and forgets them")

    written: dict[str, Value] = {}
    if agent:
        written["agent"] = agent
    if max_iterations:
        written["max_iterations"] = max_iterations
    checks = list(loaded.chosen(name).quality_checks) or quality_checks(root)
    if checks and not loaded.chosen(name).quality_checks:
        written["quality_checks"] = checks
    for key, value in written.items():
        set_value(root / paths.CONFIG, ("methodology", name, key), value)
    store.replace_all(tasks)
    _trust_what_was_written(root, name if "quality_checks" in written else "")

    lines = [
        f"{len(tasks)} tasks from {converted.file}",
        *(f"  wrote {key} = {value}" for key, value in written.items()),
    ]
    if not checks:
        lines.append(
            "no checks were found: set quality_checks in samuel.toml, or nothing stands between a claim and done"
        )
    data = {"tasks": [task.plain() for task in tasks], "written": written, "quality_checks": checks}
    return here.out.answer(
        data, "\n".join([*lines, "", "Try:", "  samuel run tasks", "  samuel run start"]), warnings=converted.notes
    )


def _trust_what_was_written(root: Path, methodology: str) -> None:
    if not methodology:
        return
    consent = Consent(root)
    consent.agree(item for item in consent.pending() if item.name == f"checks:{methodology}")
