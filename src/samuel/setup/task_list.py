"""Making the task list of a project: its tasks, and what samuel.toml says about the run that works on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from samuel import config
from samuel.agents.find_agent import find
from samuel.app import App
from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.checks.detect import project_files, quality_checks
from samuel.checks.files import CheckFiles, disk_reader, without_tests, without_tests_warning
from samuel.checks.prepare_detect import PrepareSuggestion, suggested_prepare
from samuel.config.edit import Value, has_value, set_value
from samuel.events import TasksRead, names
from samuel.evidence.ownership import owned_tests
from samuel.files import atomic
from samuel.files.inside import refuse_links
from samuel.files.lock import held
from samuel.git.git import Git
from samuel.history.run_file import no_run
from samuel.hooks.handler import HandlerStatus
from samuel.process import environment
from samuel.process.inside_a_run import inside_a_run
from samuel.prompts import background
from samuel.setup.consent import Consent
from samuel.setup.run_state import origin_file, run_file, state_directory, steering_file, task_store
from samuel.tasks.formats.handler_format import HandlerFormats, handler_formats
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.importing import STDIN, AskHandlers, TaskImport
from samuel.tasks.origin import Origins, origin_of, without_place
from samuel.tasks.task import Task
from samuel.trust.items import TrustItem

LOCK_SECONDS = 60.0  # for another `run init`, which may take long on a busy machine
COMMITS = ("commit", "branch")
"""The settings that make a run commit each completed task, on a branch of its own."""
DEFAULT_AGENT = "claude"

ChooseTrusted = Callable[[Consent, Sequence[TrustItem]], Sequence[TrustItem]]
"""Chooses what the user trusts of the commands that came with the tasks."""


class TaskListRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How a task list is made, apart from its tasks."""

    methodology: str = ""
    """"" for the project's default."""
    agent: str = ""
    max_iterations: int | None = None
    write_back: bool = True
    """Mark completed tasks in the file that they came from."""
    commits: bool = True
    """Switch on `commit` and `branch` in a git repository, where samuel.toml has neither."""
    force: bool = False
    """Replace the tasks that there are."""


class TaskList(msgspec.Struct, frozen=True, kw_only=True):
    """A task list that was made."""

    new_settings: Mapping[str, Value]
    """The settings that were written to samuel.toml."""
    checks: Sequence[str]
    check_files: CheckFiles
    """What the checks run or read."""
    owned_by_words: Mapping[str, str]
    """For each task whose words say which tests it may change, a line that says so."""
    untrusted: bool
    """Whether checks that the tasks bring along are not trusted yet."""
    warnings: Sequence[str]
    prepare: PrepareSuggestion | None = None
    """A command for `prepare` that was not written, because the project has what it would make."""

    def plain(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "written": self.new_settings,
            "quality_checks": self.checks,
            "check_files": {command: list(paths) for command, paths in self.check_files.present},
            "owned_tests": dict(self.owned_by_words),
        }


def trust_nothing(consent: Consent, items: Sequence[TrustItem]) -> Sequence[TrustItem]:
    return ()


def refuse_task_list(root: Path, request: TaskListRequest) -> None:
    """Raise SamuelError for what can be refused before the tasks are read and anything is written."""
    if run := inside_a_run():
        raise SamuelError(f"cannot replace the tasks from inside the run `{run}`", "use another terminal")
    loaded = config.load(root / paths.CONFIG)
    name = request.methodology or loaded.default_methodology
    states = (paths.Project(root).state(name, several=several) for several in (False, True))
    refuse_links(root, paths.HOME, *(str(state.relative_to(root)) for state in states))
    find(request.agent or DEFAULT_AGENT, loaded.agents)


def make_task_list(
    root: Path,
    task_import: TaskImport,
    request: TaskListRequest,
    choose_trusted: ChooseTrusted = trust_nothing,
) -> TaskList:
    """Make these tasks those of the project, and write what a run needs to samuel.toml. Raises SamuelError.

    The checks that the project itself has are trusted; of those that the tasks bring along, what
    `choose_trusted` returns.
    """
    refuse_task_list(root, request)
    run_directory = paths.Project(root).run
    _make_run_directory(run_directory)
    files = project_files(root, Git(root, environment.clean()))
    # Two at once would both find no tasks, and both write samuel.toml.
    with held(run_directory / "init.lock", wait=LOCK_SECONDS, note="samuel run init"):
        plan = _planned(root, task_import, request, files)
        for key, value in plan.settings.items():
            set_value(root / paths.CONFIG, ("methodology", plan.methodology, key), value)
        state = state_directory(root, plan.methodology)
        _replace_tasks(state, task_import.imported.tasks)
        origin_file(state).save(Origins((origin_of(task_import, root, write_back=request.write_back),)))
        background.save_sources(state, root, task_import)
    untrusted = _agree(Consent(root), plan, choose_trusted)
    own_checks = [command for task in task_import.imported.tasks for command in task.checks]
    checks = [*plan.checks, *own_checks]
    check_files = CheckFiles.of(checks, files, disk_reader(root))
    owned_by_words = {
        task.id: line
        for task in task_import.imported.tasks
        if task.status != "completed" and (line := owned_tests(task, files).describe(task.id))
    }
    note = without_place(task_import, write_back=request.write_back)
    return TaskList(
        new_settings=plan.settings,
        checks=plan.checks,
        check_files=check_files,
        owned_by_words=owned_by_words,
        untrusted=untrusted and bool(own_checks or plan.offered),
        prepare=plan.suggestion if "prepare" not in plan.settings else None,
        warnings=[
            *map(without_tests_warning, without_tests(checks, files, disk_reader(root))),
            *([note] if note else []),
        ],
    )


class _Plan(NamedTuple):
    methodology: str
    settings: dict[str, Value]
    """What is written to samuel.toml."""
    checks: list[str]
    offered: list[str]
    """The checks that came with the tasks."""
    suggestion: PrepareSuggestion | None = None


def _planned(root: Path, task_import: TaskImport, request: TaskListRequest, files: Sequence[str]) -> _Plan:
    """What samuel.toml is to say. Raises SamuelError if there are tasks that may not be replaced."""
    loaded = config.load(root / paths.CONFIG)
    name = request.methodology or loaded.default_methodology
    if name in loaded.names and not request.force and (prd := state_directory(root, name) / "prd.toon").exists():
        raise SamuelError(f"`{prd}` has tasks already", "`--force` replaces them")
    settings: dict[str, Value] = {}
    if request.agent or name not in loaded.names:  # a methodology of its own needs a table of its own
        settings["agent"] = find(request.agent or DEFAULT_AGENT, loaded.agents).name
    if request.max_iterations:
        settings["max_iterations"] = request.max_iterations
    is_repository = Git(root, environment.clean()).is_repository
    own = list(loaded.chosen(name).quality_checks)
    offered = [command for command in task_import.imported.checks if command not in own]
    checks = [*own, *offered] or quality_checks(root, files)
    if checks != own:
        settings["quality_checks"] = checks
    if request.commits and is_repository and not has_value(root / paths.CONFIG, ("methodology", name), *COMMITS):
        settings |= dict.fromkeys(COMMITS, True)
    suggestion = None
    if (
        checks
        and is_repository
        and not has_value(root / paths.CONFIG, ("methodology", name), "prepare", "evidence")
    ):
        suggestion = suggested_prepare(root, files, os.environ.get("PATH", ""))
        if suggestion is not None and suggestion.is_missing:
            settings["prepare"] = suggestion.command
    return _Plan(name, settings, checks, offered, suggestion)


def _agree(consent: Consent, plan: _Plan, choose_trusted: ChooseTrusted) -> bool:
    """Agree to the checks: to those of the project itself at once. Whether some that came with the tasks remain.

    What was agreed to for earlier tasks is forgotten.
    """
    of_project, of_tasks = f"checks:{plan.methodology}", f"checks:{plan.methodology}:tasks"
    if "quality_checks" in plan.settings and not plan.offered:
        consent.agree(item for item in consent.pending() if item.name == of_project)
    if "prepare" in plan.settings:
        consent.agree(item for item in consent.pending() if item.name == f"prepare:{plan.methodology}")
    brought = [of_project, of_tasks] if plan.offered else [of_tasks]
    for brought_name in brought:
        pending = [item for item in consent.pending() if item.name == brought_name]
        gone = [item for item in pending if item.state == "gone"]
        if agreed := [*gone, *choose_trusted(consent, [item for item in pending if item.state != "gone"])]:
            consent.agree(agreed)
    return any(item.name in brought for item in consent.pending())


def _make_run_directory(directory: Path) -> None:
    """Create the directory of run state, which git ignores."""
    directory.mkdir(parents=True, exist_ok=True)
    if not (directory / ".gitignore").exists():
        atomic.write_text(directory / ".gitignore", "*\n")


def _replace_tasks(state: Path, tasks: tuple[Task, ...]) -> None:
    """Replace the tasks, and forget the last run so that it is not resumed with them."""
    state.mkdir(parents=True, exist_ok=True)
    with no_run(state, paths.User.from_environment().record(state), "samuel run init"):
        run_file(state).forget()
        steering_file(state).forget()
        task_store(state).replace_all(tasks)


def format_handlers(open_app: Callable[[], App]) -> AskHandlers:
    """A function that asks the handlers of `tasks.read` for the tasks of a source in no built-in format.

    It opens the project; where nothing could answer, no event is fired.
    """

    def ask(source: TaskSource, format_name: str) -> HandlerFormats:
        path = os.path.abspath(source.path) if source.path else STDIN
        event = TasksRead(format=format_name, path=path, text=source.text)
        with open_app() as app:
            fired = app.fire(event) if app.chains[names.TASKS_READ].steps else None
            called = {call.handler.name for call in fired.calls} if fired else set()
            not_trusted = [
                f"`{handler.name}` was not asked: {handler.reason}"
                for handler in app.handlers
                if handler.status is HandlerStatus.UNTRUSTED
                and handler.event in ("", names.TASKS_READ)
                and handler.name not in called
            ]
            notes = [*(fired.warnings if fired else ()), *not_trusted, *app.unasked_hooks(fired), *app.warnings]
        if fired is None:
            return HandlerFormats((), tuple(notes))
        if fired.stopped:
            raise SamuelError(f"a hook of `tasks.read` failed: {fired.reason}", "`samuel hooks log` shows more")
        answers = handler_formats(fired.result["candidates"], format_name)
        return answers._replace(notes=(*answers.notes, *notes))

    return ask
