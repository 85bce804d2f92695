"""Before a run starts: refuse it now for anything that would make it fail hours later."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from samuel import config
from samuel.agents.check import missing_in
from samuel.agents.table import find
from samuel.app import App, Overrides
from samuel.attempt.accept_unguarded import accepting_unguarded
from samuel.attempt.worktree import ProjectFiles
from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.checks.detect import project_files
from samuel.checks.files import disk_reader, without_tests, without_tests_warning
from samuel.cli.command_context import CommandContext
from samuel.cli.run import configured_methodology, state_directory
from samuel.cli.run.unguarded import refuse_unguarded
from samuel.config.model import Config, Pilot
from samuel.config.place_spec import PlaceSpec, place_specs
from samuel.dispatch.record import Sink
from samuel.events.names import AGENT_INVOKE, BEFORE_AGENT_INVOKE, QUALITY_CHECK
from samuel.git.git import GitFailed
from samuel.git.landing import OLDEST
from samuel.git.repository_state import under_way
from samuel.git.transport import remote_of
from samuel.git.worktrees import version
from samuel.history.own_branch import current
from samuel.history.reports import Watch
from samuel.history.run import Run
from samuel.history.run_file import RunFile
from samuel.hooks.handler import Origin
from samuel.tasks.task import Tasks
from samuel.trust.commands import task_checks, texts
from samuel.workspaces.lost_commits import lost_commits, lost_lines


def make_ready(
    here: CommandContext,
    methodology: str,
    agent: str,
    *,
    yes: bool,
    watch: Watch,
    sink: Sink,
    pilot: dict[str, Any] | None,
    environment: str = "",
    require_checks: bool = False,
    baseline: str | None = None,
    accept_unguarded: bool = False,
    places: Sequence[PlaceSpec] = (),
) -> App:
    """Open the project for a run. Raises SamuelError for what is missing.

    `require_checks`, `baseline` and `accept_unguarded` are settings of samuel.toml, changed for this run only.
    """
    changes = {
        **({"require_checks": True} if require_checks else {}),
        **({"baseline": baseline} if baseline else {}),
    }
    settings = _settings(here, methodology, pilot, changes)
    if accept_unguarded:
        settings = accepting_unguarded(settings)
    here.offer_trust(yes=yes)
    if os.environ.get("SAMUEL_RUN_ID") and os.environ.get("SAMUEL_STEP") == "agent":
        raise UsageError(
            f"this is inside the run `{os.environ['SAMUEL_RUN_ID']}`, and its agents cannot start another one",
            "an agent adds tasks with `samuel run enqueue`",
        )
    overrides = Overrides(config=settings, methodology=methodology, environment=environment)
    app = here.open(overrides=overrides, watch=watch, sinks=[sink])
    try:
        place = app.workplace
        tasks = place.tasks.load()
        _refuse_without_checks(app)
        if app.plugins.missing:  # one of them may be a guard
            names = ", ".join(f"`{name}`" for name in app.plugins.missing)
            raise SamuelError(f"samuel.lock names {names}, not installed here", "run `samuel plugin install`")
        _refuse_without_handlers(app)
        chosen = find(agent or place.agent, place.agents)
        places = places or place_specs(app.config.fleet.places)
        elsewhere = [spec for spec in places if spec.kind != "local"]
        if len(elsewhere) < len(places) or not places:  # an agent works on this machine
            if lack := missing_in(chosen, place.settings.sandbox, place.confinement):
                raise SamuelError(lack)
            refuse_unguarded(place, [agent] if agent else place.chosen_agents, here.out.tell)
        if lack := _untrusted(app, chosen.name, tasks, elsewhere=bool(elsewhere)):
            raise SamuelError(lack)
        if place.settings.quality_checks and not app.chains[QUALITY_CHECK].steps:
            here.out.warn(f"`quality_checks` will not run: no handler runs on `{QUALITY_CHECK}`")
        own_files = project_files(place.root, place.git)
        for command in without_tests(place.settings.quality_checks, own_files, disk_reader(place.root)):
            here.out.warn(without_tests_warning(command))
        in_lanes = sum(spec.slots for spec in places) > 1 or bool(elsewhere)
        if in_lanes:
            _refuse_without_lanes(app)
        if elsewhere:
            remote_of(place.git, app.config.fleet.remote)
        if place.settings.commit or in_lanes:
            _refuse_without_identity(app)
        last_run = RunFile(app.state, place.record).resumable().run
        is_refused = place.settings.branch and not in_lanes and current(place.git) is None
        if not is_refused:  # else the run says what to end first
            _name_what_is_under_way(here, app)
        _name_what_is_in_the_way(here, app, tasks, last_run)
        # What is dirty may be of the agent of a run that has not ended, and that run knows.
        if (
            dirty := []
            if in_lanes or (last_run and not last_run.over)
            else ProjectFiles(place.root, place.git).dirty()
        ):
            files = f"{len(dirty)} files" if len(dirty) > 1 else f"`{dirty[0]}`"
            here.out.tell(f"note: the work tree is dirty ({files}); the run does not commit what you changed")
        return app
    except BaseException:
        app.close()
        raise


def _refuse_without_checks(app: App) -> None:
    """With `require_checks`, nothing may be completed that no check has looked at."""
    place = app.workplace
    handlers = [step.handler for step in app.chains[QUALITY_CHECK].steps]
    runs_commands = place.settings.quality_checks and handlers
    if place.settings.require_checks and not (
        runs_commands or any(handler.origin is not Origin.BUILT_IN for handler in handlers)
    ):
        raise UsageError(
            f"checks are required, but the methodology `{app.methodology}` has none",
            'add `quality_checks = ["make test"]` or the like to samuel.toml, or leave out `--require-checks` and '
            "`require_checks`",
        )


def _refuse_without_lanes(app: App) -> None:
    """Lanes are work trees of a repository that has a commit."""
    place = app.workplace
    if not place.git.is_repository or not place.git.head():
        raise SamuelError(
            "lanes are work trees of a git repository, and this project has no commit yet",
            "`git init`, `git add` and `git commit` make one, or leave out `--parallel`",
        )
    if version(place.git) < OLDEST:
        raise SamuelError(
            f"lanes need git {'.'.join(map(str, OLDEST))} or newer", "install it, or leave out `--parallel`"
        )
    if place.record is None:
        raise SamuelError("lanes need a state directory of the user that can be written")


def _refuse_without_handlers(app: App) -> None:
    """Without a handler of these two events there would be no prompt, or no agent."""
    for event, lack in (
        (BEFORE_AGENT_INVOKE, "there would be no prompt"),
        (AGENT_INVOKE, "no agent would be started"),
    ):
        if not app.chains[event].steps:
            raise SamuelError(f"no handler runs on `{event}`: {lack}", f"`samuel hooks explain {event}` shows why")


def _refuse_without_identity(app: App) -> None:
    git = app.workplace.git
    if not git.is_repository:
        return
    try:
        git.run("var", "GIT_COMMITTER_IDENT")
    except GitFailed:
        hint = (
            "`git config user.name NAME` and `git config user.email ADDRESS` set them; "
            "without `commit` and `branch` in samuel.toml nothing is committed"
        )
        raise SamuelError(
            "`commit = true` needs a name and an e-mail address that git can commit with", hint
        ) from None


def _name_what_is_under_way(here: CommandContext, app: App) -> None:
    """Say which git commands wait to be continued, which the run leaves so."""
    place = app.workplace
    for name, command in under_way(place.git).items() if place.git.is_repository else ():
        commits = "; while it is, the run cannot commit" if place.settings.commit else ""
        here.out.tell(f"note: a {command} is under way (`{name}` in the git directory), and is left so{commits}")


def _name_what_is_in_the_way(here: CommandContext, app: App, tasks: Tasks, last_run: Run | None) -> None:
    """Say which lock keeps the run from committing, and which completed tasks are not in HEAD."""
    place = app.workplace
    if not place.git.is_repository:
        return
    if os.path.lexists(lock := place.git.index_file.with_name("index.lock")):
        here.out.tell(f"note: `{lock}` exists; remove it if no git is at work, else nothing can be committed")
    goes_on = last_run is not None and (not last_run.over or bool(last_run.budget_hit))
    branch = last_run.own_branch if last_run and goes_on else None
    for text in lost_lines(lost_commits(place.git, tasks, branch.name if branch else "")):
        here.out.tell(f"note: {text}")


def _settings(
    here: CommandContext, methodology: str, pilot: dict[str, Any] | None, changes: dict[str, Any]
) -> Config:
    """samuel.toml, with the settings of the command line for this run."""
    loaded = config.load(here.root / paths.CONFIG)
    name = configured_methodology(loaded, methodology)
    state_directory(here, methodology)  # moves the state if a second methodology was added
    chosen = loaded.chosen(name)
    if pilot is not None:
        options = {key: value for key, value in pilot.items() if value is not None}
        changes = {
            **changes,
            "pilot": Pilot(**{**dataclasses.asdict(chosen.pilot), **options, "enabled": True}),
        }
    if not changes:
        return loaded
    changed = dataclasses.replace(chosen, **changes)
    return dataclasses.replace(loaded, methodology={**loaded.methodology, name: changed})


def _untrusted(app: App, agent: str, tasks: Tasks, *, elsewhere: bool) -> str:
    """Why the checks or the agent's command, which come with the repository, may not run; "" if they may."""
    own_checks = task_checks(app.methodology, ((task.id, task.checks) for task in tasks))
    names = [f"checks:{app.methodology}", f"checks:{app.methodology}:tasks", f"agent:{agent}", "lanes"]
    names += ["fleet"] if elsewhere else []
    for name, digest, _ in (*texts(app.config), *([own_checks] if own_checks else [])):
        if name in names and (why := app.permit.text(name, digest)):
            return f"{why}, or `samuel run start --yes`"
    return ""
