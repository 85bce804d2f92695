from __future__ import annotations

from pathlib import Path

import click

from samuel import config
from samuel.agents.table import find
from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.checks.detect import project_files, quality_checks
from samuel.checks.files import CheckFiles, disk_reader, without_tests, without_tests_warning
from samuel.checks.tests_of_tasks import warnings_about_tests
from samuel.cli.command_context import CommandContext, json_option
from samuel.cli.consent import Consent, ask_for_each
from samuel.cli.run import origin_file, run_file, state_directory, task_store
from samuel.cli.run.source_options import described, read_tasks, source_options, warnings
from samuel.cli.run.tasks import table
from samuel.config.edit import Value, has_value, set_value
from samuel.files import atomic
from samuel.files.inside import refuse_links
from samuel.files.lock import held
from samuel.git.git import Git
from samuel.process import environment
from samuel.process.inside_a_run import inside_a_run
from samuel.prompts import background
from samuel.tasks.importing import TaskImport
from samuel.tasks.origin import Origins, origin_of, without_place
from samuel.tasks.task import Task

LOCK_SECONDS = 60.0  # for another `run init`, which may take long on a busy machine
COMMITS = {
    "commit": "each completed task becomes a commit (`--no-commit` declines)",
    "branch": "on a branch of the run's own, which `samuel run finish --merge` merges",
}


@click.command()
@click.option(
    "--from",
    "--prd",
    "source",
    required=True,
    metavar="FILE|DIR|-",
    help="Where the tasks are: a file, a directory, or `-` for standard input.",
)
@source_options
@click.option(
    "--write-back/--no-write-back", default=True, help="Mark completed tasks in that file; on by default."
)
@click.option("--agent", default="", help="The agent that works on the tasks.")
@click.option("--max-iterations", type=click.IntRange(1), help="The largest number of iterations of a run.")
@click.option("--methodology", default="", help="The methodology to use instead of default_methodology.")
@click.option("--no-commit", is_flag=True, help="Leave `commit` and `branch` of samuel.toml as they are.")
@click.option("--force", is_flag=True, help="Replace the tasks that there are.")
@click.option("--yes", is_flag=True, help="Do not ask; trust the check commands that the tasks bring along.")
@json_option
@click.pass_obj
def init(
    here: CommandContext,
    source: str,
    format_name: str,
    tag: str,
    write_back: bool,
    agent: str,
    max_iterations: int | None,
    methodology: str,
    no_commit: bool,
    force: bool,
    yes: bool,
) -> int:
    """Create the task list from what you have written down.

    The tasks can be in a PRD in Markdown, in a tasks.md of OpenSpec or spec-kit, in the files of BMAD, task-master
    or beads, in a prd.json, or in the output of `gh issue list`. On a terminal they are shown before anything is
    written.

    The options given here, and the checks that the project has, are written to samuel.toml. What these checks run
    or read is shown: an attempt that changes it is checked without that change first.

    In a git repository, `commit` and `branch` are switched on if samuel.toml has neither: a run commits each
    completed task on a branch of its own, which `samuel run finish --merge` merges.

    \b
        samuel run init --from docs/prd.md --agent claude
        gh issue list --json number,title,body,labels | samuel run init --from -
    """
    if run := inside_a_run():
        raise SamuelError(f"cannot replace the tasks from inside the run `{run}`", "use another terminal")
    root, run_directory = here.root, paths.Project(here.root).run
    _refuse_links(root, methodology)
    task_import = read_tasks(here, source, format_name, tag)
    tasks = task_import.imported.tasks
    find(agent or "claude", config.load(root / paths.CONFIG).agents)  # refuse an unknown agent before any write
    _ask(here, task_import, yes=yes)
    _make_run_directory(run_directory)
    # Two at once would both find no tasks, and both write samuel.toml.
    with held(run_directory / "init.lock", wait=LOCK_SECONDS, note="samuel run init"):
        loaded = config.load(root / paths.CONFIG)
        name = methodology or loaded.default_methodology
        if name in loaded.names and (prd_file := state_directory(here, name) / "prd.toon").exists() and not force:
            raise SamuelError(f"`{prd_file}` has tasks already", "`--force` replaces them")
        chosen = loaded.chosen(name)
        settings: dict[str, Value] = {}
        table = ("methodology", name)
        if agent or name not in loaded.names:  # a methodology of its own needs a table of its own
            settings["agent"] = find(agent or "claude", loaded.agents).name
        if max_iterations:
            settings["max_iterations"] = max_iterations
        git = Git(root, environment.clean())
        files = project_files(root, git)
        own = list(chosen.quality_checks)
        offered = [command for command in task_import.imported.checks if command not in own]
        checks = [*own, *offered] or quality_checks(root, files)
        if checks != own:
            settings["quality_checks"] = checks
        if not no_commit and git.is_repository and not has_value(root / paths.CONFIG, table, *COMMITS):
            settings |= dict.fromkeys(COMMITS, True)
        for key, value in settings.items():
            set_value(root / paths.CONFIG, (*table, key), value)
        state = state_directory(here, name)
        _replace_tasks(state, tasks)
        origin_file(state).save(Origins((origin_of(task_import, root, write_back=write_back),)))
        background.save_sources(state, root, task_import)
    consent = Consent(root)
    if offered:
        _agree_to(here, consent, f"checks:{name}", yes)  # they came with the tasks
    elif "quality_checks" in settings:
        consent.agree(item for item in consent.pending() if item.name == f"checks:{name}")
    _agree_to(here, consent, f"checks:{name}:tasks", yes)
    own_checks = [command for task in tasks for command in task.checks]
    check_files = CheckFiles.of([*checks, *own_checks], files, disk_reader(root))

    lines = [
        *described(task_import),
        *(f"  wrote {_setting_line(key, value)}" for key, value in settings.items()),
        *_described(check_files),
    ]
    if not checks:
        lines.append(
            "no checks were found: until samuel.toml has quality_checks, a task is done when the agent says so"
        )
    brought = [f"checks:{name}:tasks", *([f"checks:{name}"] if offered else [])]
    if (own_checks or offered) and any(item.name in brought for item in consent.pending()):
        lines.append("the checks that the tasks bring along are not trusted yet: `samuel trust` shows them")
    data = {
        **task_import.plain(),
        "written": settings,
        "quality_checks": checks,
        "check_files": {command: list(paths) for command, paths in check_files.present},
    }
    block = "\n".join([*lines, "", "Try:", "  samuel run tasks", "  samuel run start"])
    notes = task_import.warnings() if here.out.json else warnings(task_import)
    notes += map(without_tests_warning, without_tests([*checks, *own_checks], files, disk_reader(root)))
    notes += warnings_about_tests(tasks, (path for _, paths in check_files.present for path in paths))
    if note := without_place(task_import, write_back=write_back):
        notes.append(note)
    return here.out.answer(data, block, warnings=notes)


def _setting_line(key: str, value: Value) -> str:
    return f"{key} = true: {COMMITS[key]}" if key in COMMITS else f"{key} = {value}"


def _ask(here: CommandContext, task_import: TaskImport, *, yes: bool) -> None:
    """On a terminal: show what was read, and ask before anything is written."""
    if yes or here.confirm is None:
        return
    here.out.show(table(task_import.imported.tasks))
    here.out.tell("", *described(task_import), *warnings(task_import))
    if not here.confirm("Write these tasks?"):
        raise SamuelError("nothing was written", "`--format` reads the file in another way")


def _agree_to(here: CommandContext, consent: Consent, name: str, yes: bool) -> None:
    """Ask about commands that came with the tasks; those of earlier tasks are forgotten."""
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


def _refuse_links(root: Path, methodology: str) -> None:
    """Raise UnsafePath where a link would lead out of the project, before anything is written there."""
    loaded = config.load(root / paths.CONFIG)
    name = methodology or loaded.default_methodology
    states = (paths.Project(root).state(name, several=several) for several in (False, True))
    refuse_links(root, paths.HOME, *(str(state.relative_to(root)) for state in states))


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
