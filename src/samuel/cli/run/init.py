from __future__ import annotations

from pathlib import Path

import click

from samuel import config, paths
from samuel.agents.table import find
from samuel.cli.command_context import CommandContext, inside_a_run, json_option
from samuel.cli.consent import Consent
from samuel.cli.run import run_file, state_directory, task_store
from samuel.config.edit import Value, set_value
from samuel.errors import SamuelError
from samuel.files import atomic
from samuel.files.lock import held
from samuel.loop.detect import quality_checks
from samuel.tasks.markdown import read
from samuel.tasks.task import Task

LOCK_SECONDS = 60.0  # another `run init` takes a moment, on a busy machine a long one


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
def init(
    here: CommandContext, prd: Path, agent: str, max_iterations: int | None, methodology: str, force: bool
) -> int:
    """Make the task list from a PRD.

    How it is worked is written into samuel.toml: what is given here, and the checks that the project has.

    \b
        samuel run init --prd docs/prd.md --agent claude
    """
    if run := inside_a_run():
        raise SamuelError(f"this is inside the run `{run}`, which cannot begin anew", "use another terminal")
    root, run_directory = here.root, paths.Project(here.root).run
    converted = read(here.directory / prd)
    find(agent or "claude", config.load(root / paths.CONFIG).agents)  # refused before anything is made
    _make_run_directory(run_directory)
    # Two at once would both find no tasks, and both write samuel.toml.
    with held(run_directory / "init.lock", wait=LOCK_SECONDS, note="samuel run init"):
        loaded = config.load(root / paths.CONFIG)
        name = methodology or loaded.default_methodology
        if name in loaded.names and (there := state_directory(here, name) / "prd.toon").exists() and not force:
            raise SamuelError(f"`{there}` has tasks already", "`--force` begins anew and forgets them")
        chosen = loaded.chosen(name)
        written: dict[str, Value] = {}
        if agent or name not in loaded.names:  # a methodology of its own needs a table of its own
            written["agent"] = find(agent or "claude", loaded.agents).name
        if max_iterations:
            written["max_iterations"] = max_iterations
        checks = list(chosen.quality_checks) or quality_checks(root)
        if checks and not chosen.quality_checks:
            written["quality_checks"] = checks
        for key, value in written.items():
            set_value(root / paths.CONFIG, ("methodology", name, key), value)
        _begin(state_directory(here, name), converted.tasks)
    if "quality_checks" in written:
        consent = Consent(root)
        consent.agree(item for item in consent.pending() if item.name == f"checks:{name}")

    lines = [
        f"{len(converted.tasks)} {'task' if len(converted.tasks) == 1 else 'tasks'} from {converted.file}",
        *(f"  wrote {key} = {value}" for key, value in written.items()),
    ]
    if not checks:
        lines.append(
            "no checks were found: set quality_checks in samuel.toml, or nothing stands between a claim and done"
        )
    data = {"tasks": [task.plain() for task in converted.tasks], "written": written, "quality_checks": checks}
    return here.out.answer(
        data, "\n".join([*lines, "", "Try:", "  samuel run tasks", "  samuel run start"]), warnings=converted.notes
    )


def _make_run_directory(directory: Path) -> None:
    """What a run leaves behind is nobody's to commit."""
    directory.mkdir(parents=True, exist_ok=True)
    if not (directory / ".gitignore").exists():
        atomic.write_text(directory / ".gitignore", "*\n")


def _begin(state: Path, tasks: tuple[Task, ...]) -> None:
    """New tasks, and no run that would go on with the old ones."""
    state.mkdir(parents=True, exist_ok=True)
    with held(state / "run.lock", note="samuel run init"):
        run_file(state).forget()
        task_store(state).replace_all(tasks)
