from __future__ import annotations

from pathlib import Path

import click

from samuel import config, paths
from samuel.agents.table import find
from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.consent import Consent, ask_for_each
from samuel.cli.inside_a_run import inside_a_run
from samuel.cli.run import run_file, state_directory, task_store
from samuel.cli.run.words import plural
from samuel.config.edit import Value, set_value
from samuel.errors import SamuelError
from samuel.files import atomic
from samuel.files.lock import held
from samuel.loop.checks.detect import project_files, quality_checks
from samuel.loop.checks.files import CheckFiles, disk_reader
from samuel.process import environment
from samuel.process.git.git import Git
from samuel.prompts import background
from samuel.tasks.markdown import read
from samuel.tasks.task import Task

LOCK_SECONDS = 60.0  # for another `run init`, which may take long on a busy machine


@click.command()
@click.option(
    "--prd", "prd", required=True, type=click.Path(path_type=Path), help="The Markdown file with the tasks."
)
@click.option("--agent", default="", help="The agent that works on the tasks.")
@click.option("--max-iterations", type=click.IntRange(1), help="The largest number of iterations of a run.")
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--force", is_flag=True, help="Replace the tasks that there are.")
@click.option("--yes", is_flag=True, help="Trust the check commands that the tasks bring along.")
@json_option
@click.pass_obj
def init(
    here: CommandContext,
    prd: Path,
    agent: str,
    max_iterations: int | None,
    methodology: str,
    force: bool,
    yes: bool,
) -> int:
    """Create the task list from a PRD.

    The options given here, and the checks that the project has, are written to samuel.toml. What these checks run
    or read is shown: an attempt that changes it is checked without that change first.

    \b
        samuel run init --prd docs/prd.md --agent claude
    """
    if run := inside_a_run():
        raise SamuelError(f"cannot replace the tasks from inside the run `{run}`", "use another terminal")
    root, run_directory = here.root, paths.Project(here.root).run
    converted = read(here.directory / prd)
    find(agent or "claude", config.load(root / paths.CONFIG).agents)  # refuse an unknown agent before any write
    _make_run_directory(run_directory)
    # Two at once would both find no tasks, and both write samuel.toml.
    with held(run_directory / "init.lock", wait=LOCK_SECONDS, note="samuel run init"):
        loaded = config.load(root / paths.CONFIG)
        name = methodology or loaded.default_methodology
        if name in loaded.names and (prd_file := state_directory(here, name) / "prd.toon").exists() and not force:
            raise SamuelError(f"`{prd_file}` has tasks already", "`--force` replaces them")
        chosen = loaded.chosen(name)
        settings: dict[str, Value] = {}
        if agent or name not in loaded.names:  # a methodology of its own needs a table of its own
            settings["agent"] = find(agent or "claude", loaded.agents).name
        if max_iterations:
            settings["max_iterations"] = max_iterations
        files = project_files(root, Git(root, environment.clean()))
        checks = list(chosen.quality_checks) or quality_checks(root, files)
        if checks and not chosen.quality_checks:
            settings["quality_checks"] = checks
        for key, value in settings.items():
            set_value(root / paths.CONFIG, ("methodology", name, key), value)
        _replace_tasks(state_directory(here, name), converted.tasks)
        background.save(state_directory(here, name), root, here.directory / prd, converted.prose)
    consent = Consent(root)
    if "quality_checks" in settings:
        consent.agree(item for item in consent.pending() if item.name == f"checks:{name}")
    _agree_to_task_checks(here, consent, f"checks:{name}:tasks", yes)
    own_checks = [command for task in converted.tasks for command in task.checks]
    check_files = CheckFiles.of([*checks, *own_checks], files, disk_reader(root))

    lines = [
        f"{plural(len(converted.tasks), 'task')} from {converted.file}",
        *(f"  wrote {key} = {value}" for key, value in settings.items()),
        *_described(check_files),
    ]
    if not checks:
        lines.append(
            "no checks were found: until samuel.toml has quality_checks, a task is done when the agent says so"
        )
    if own_checks and any(item.name == f"checks:{name}:tasks" for item in consent.pending()):
        lines.append("the checks that the tasks bring along are not trusted yet: `samuel trust` shows them")
    data = {
        "tasks": [task.plain() for task in converted.tasks],
        "written": settings,
        "quality_checks": checks,
        "check_files": {command: list(paths) for command, paths in check_files.present},
    }
    return here.out.answer(
        data, "\n".join([*lines, "", "Try:", "  samuel run tasks", "  samuel run start"]), warnings=converted.notes
    )


def _agree_to_task_checks(here: CommandContext, consent: Consent, name: str, yes: bool) -> None:
    """Ask about the commands of the tasks, which came with the PRD; those of earlier tasks are forgotten."""
    pending = [item for item in consent.pending() if item.name == name]
    gone = [item for item in pending if item.state == "gone"]
    new = [item for item in pending if item.state != "gone"]
    if not yes:
        new = ask_for_each(here.out, consent, new) if here.out.asks else []
    if agreed := [*gone, *new]:
        consent.agree(agreed)


def _described(check_files: CheckFiles) -> list[str]:
    lines = check_files.describe()
    return ["what the checks run or read:", *(f"  {line}" for line in lines)] if lines else []


def _make_run_directory(directory: Path) -> None:
    """Create the directory of run state, which git ignores."""
    directory.mkdir(parents=True, exist_ok=True)
    if not (directory / ".gitignore").exists():
        atomic.write_text(directory / ".gitignore", "*\n")


def _replace_tasks(state: Path, tasks: tuple[Task, ...]) -> None:
    """Replace the tasks, and forget the last run so that it is not resumed with them."""
    state.mkdir(parents=True, exist_ok=True)
    with held(state / "run.lock", note="samuel run init"):
        run_file(state).forget()
        task_store(state).replace_all(tasks)
