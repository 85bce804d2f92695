"""May this run begin? It is refused now for anything that would make it fail hours later."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from samuel import config
from samuel.agents.check import missing_in
from samuel.agents.find_agent import find
from samuel.app import App, Overrides
from samuel.attempt.turn.tool_hooks import accepting_unguarded
from samuel.attempt.workplace import Workplace
from samuel.attempt.worktree import ProjectFiles
from samuel.base import paths
from samuel.base.errors import SamuelError, UsageError
from samuel.base.wording import plural
from samuel.bridges.guards import LostGuard, no_bridge
from samuel.checks.detect import project_files
from samuel.checks.files import disk_reader, without_tests, without_tests_warning
from samuel.clients.adapter.stream import PlainStream
from samuel.config.model import Config, Pilot
from samuel.config.place_spec import PlaceSpec, place_specs
from samuel.events.names import AGENT_INVOKE, BEFORE_AGENT_INVOKE, QUALITY_CHECK
from samuel.git.git import GitFailed
from samuel.git.landing import OLDEST
from samuel.git.repository_state import under_way
from samuel.git.transport import remote_of
from samuel.history.own_branch import current
from samuel.history.run import Run
from samuel.history.run_file import RunFile
from samuel.hooks.handler import Origin
from samuel.setup.run_state import configured_methodology, state_directory
from samuel.setup.sealed_readiness import refuse_unsealed
from samuel.tasks.task import Tasks
from samuel.trust.commands import task_checks, texts
from samuel.workspaces.lost_commits import lost_commits, lost_lines

ACCEPT_UNGUARDED = "Start even if an agent cannot honour a guard; the report names both."

Notify = Callable[[str], None]
"""Is called with each line that a person should read before the run: `note: ...` or `warning: ...`."""


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of one run; all of it overrides samuel.toml for this run only."""

    methodology: str = ""
    """"" for the project's default."""
    agent: str = ""
    """"" for the methodology's."""
    environment: str = ""
    places: tuple[PlaceSpec, ...] = ()
    """Where agents work; () for those of samuel.toml."""
    require_checks: bool = False
    require_proof: bool = False
    baseline: str = ""
    """`refuse` or `accept`; "" for that of samuel.toml."""
    acceptance: str = ""
    """`agent` or `none`; "" for that of samuel.toml."""
    take_environment: bool = False
    """Let checks use the environment of the work tree as it is, with what agents of an earlier run changed."""
    accept_unguarded: bool = False
    pilot: Mapping[str, Any] | None = None
    """With pilot mode, and these of its settings; None is as samuel.toml says."""


def open_for_run(root: Path, request: RunRequest, open_app: Callable[[Overrides], App], notify: Notify) -> App:
    """The project, opened by `open_app` with the settings of this run. Raises SamuelError if it may not begin."""
    settings = run_settings(root, request)
    refuse_inside_an_agent()
    app = open_app(Overrides(config=settings, methodology=request.methodology, environment=request.environment))
    try:
        refuse_unready(app, request, notify)
    except BaseException:
        app.close()
        raise
    return app


def run_settings(root: Path, request: RunRequest) -> Config:
    """samuel.toml, with what the request changes for this run."""
    loaded = config.load(root / paths.CONFIG)
    name = configured_methodology(loaded, request.methodology)
    state_directory(root, request.methodology)  # moves the state if a second methodology was added
    chosen = loaded.chosen(name)
    changes: dict[str, Any] = {}
    if request.require_checks:
        changes["require_checks"] = True
    if request.require_proof:
        changes["proof"] = "require"
    if request.take_environment:
        changes["take_environment"] = True
    if request.baseline:
        changes["baseline"] = request.baseline
    if request.acceptance:
        changes["acceptance"] = request.acceptance
    if request.pilot is not None:
        changes["pilot"] = Pilot(**{**msgspec.structs.asdict(chosen.pilot), **request.pilot, "enabled": True})
    if changes:
        changed = msgspec.structs.replace(chosen, **changes)
        loaded = msgspec.structs.replace(loaded, methodology={**loaded.methodology, name: changed})
    return accepting_unguarded(loaded) if request.accept_unguarded else loaded


def refuse_inside_an_agent() -> None:
    """Raise UsageError in the agent of a run, whose own run would never end."""
    if os.environ.get("SAMUEL_RUN_ID") and os.environ.get("SAMUEL_STEP") == "agent":
        raise UsageError(
            f"this is inside the run `{os.environ['SAMUEL_RUN_ID']}`, and its agents cannot start another one",
            "an agent adds tasks with `samuel run enqueue`",
        )


def refuse_unready(app: App, request: RunRequest, notify: Notify) -> None:
    """Raise SamuelError for the first thing that the run would lack; notify of what is as it may be."""
    tasks = app.workplace.tasks.load()
    _refuse_without_checks(app)
    refuse_without_plugins(app)
    _refuse_without_handlers(app)
    places = request.places or place_specs(app.config.fleet.places)
    elsewhere = [spec for spec in places if spec.kind != "local"]
    in_lanes = sum(spec.slots for spec in places) > 1 or bool(elsewhere)
    refuse_without_agent(app, request.agent, notify, here=not places or len(elsewhere) < len(places))
    refuse_unsealed(app.workplace, notify, elsewhere=bool(elsewhere))
    _refuse_untrusted(app, request.agent, tasks, elsewhere=bool(elsewhere))
    _name_weak_checks(app, notify)
    if in_lanes:
        _refuse_without_lanes(app)
    if elsewhere:
        remote_of(app.workplace.git, app.config.fleet.remote)
    if app.workplace.settings.commit or in_lanes:
        _refuse_without_identity(app)
    _name_state_of_repository(app, tasks, notify, in_lanes=in_lanes)


def refuse_without_plugins(app: App) -> None:
    """Raise SamuelError if a plugin of samuel.lock is not installed: it may be a guard."""
    if app.plugins.missing:
        names = ", ".join(f"`{name}`" for name in app.plugins.missing)
        raise SamuelError(f"samuel.lock names {names}, not installed here", "run `samuel plugin install`")


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


def _refuse_without_handlers(app: App) -> None:
    """Without a handler of these two events there would be no prompt, or no agent."""
    for event, lack in (
        (BEFORE_AGENT_INVOKE, "there would be no prompt"),
        (AGENT_INVOKE, "no agent would be started"),
    ):
        if not app.chains[event].steps:
            raise SamuelError(f"no handler runs on `{event}`: {lack}", f"`samuel hooks explain {event}` shows why")


def refuse_without_agent(app: App, agent: str, notify: Notify, *, here: bool = True) -> None:
    """An agent that works `here` is installed, and honours the guards. Another machine looks for its own."""
    place = app.workplace
    chosen = find(agent or place.agent, place.agents)
    if not here:
        return
    if lack := missing_in(chosen, place.settings.sandbox, place.confinement):
        raise SamuelError(lack)
    refuse_unguarded(place, [agent] if agent else place.chosen_agents, notify)
    _refuse_without_reviewer(place, notify)


def _refuse_without_reviewer(place: Workplace, notify: Notify) -> None:
    """Where work is reviewed, the reviewer can be started, and there is git, from which it gets its copy."""
    if not place.settings.review.agent:
        return
    reviewer = find(place.settings.review.agent, place.agents)
    if lack := missing_in(reviewer, place.settings.sandbox, place.confinement):
        raise SamuelError(f"`review` needs the agent `{reviewer.name}`: {lack}")
    if not place.git.is_repository:
        raise SamuelError(
            "`review` needs a git repository, and this project is in none",
            "`git init` makes one, or remove `review`",
        )
    refuse_unguarded(place, [reviewer.name], notify)


def _refuse_untrusted(app: App, agent: str, tasks: Tasks, *, elsewhere: bool) -> None:
    """Neither the checks nor the agent's command, which come with the repository, run without consent."""
    chosen = find(agent or app.workplace.agent, app.workplace.agents).name
    own_checks = task_checks(app.methodology, ((task.id, task.checks) for task in tasks))
    kinds = ("checks:{}", "checks:{}:tasks", "prepare:{}", "sealed-checks:{}", "canary:{}")
    reviewer = app.workplace.settings.review.agent
    names = [*(kind.format(app.methodology) for kind in kinds), f"agent:{chosen}", f"agent:{reviewer}", "lanes"]
    names += ["fleet"] if elsewhere else []
    for name, digest, _ in (*texts(app.config), *([own_checks] if own_checks else [])):
        if name in names and (why := app.permit.text(name, digest)):
            raise SamuelError(f"{why}, or `samuel run start --yes`")


def _name_weak_checks(app: App, notify: Notify) -> None:
    """Say which checks will not run, and which run no test."""
    place = app.workplace
    commands = place.settings.quality_checks
    if commands and not app.chains[QUALITY_CHECK].steps:
        notify(f"warning: `quality_checks` will not run: no handler runs on `{QUALITY_CHECK}`")
    own_files = project_files(place.root, place.git)
    for command in without_tests(commands, own_files, disk_reader(place.root)):
        notify(f"warning: {without_tests_warning(command)}")


def _refuse_without_lanes(app: App) -> None:
    """Lanes are work trees of a repository that has a commit."""
    place = app.workplace
    if not place.git.is_repository or not place.git.head():
        raise SamuelError(
            "lanes are work trees of a git repository, and this project has no commit yet",
            "`git init`, `git add` and `git commit` make one, or leave out `--parallel`",
        )
    if place.git.version() < OLDEST:
        raise SamuelError(
            f"lanes need git {'.'.join(map(str, OLDEST))} or newer", "install it, or leave out `--parallel`"
        )
    if place.record is None:
        raise SamuelError("lanes need a state directory of the user that can be written")


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


def _name_state_of_repository(app: App, tasks: Tasks, notify: Notify, *, in_lanes: bool) -> None:
    """Say what in the repository may surprise: commands under way, locks, lost commits, files that are dirty."""
    place = app.workplace
    last_run = RunFile(app.state, place.record).resumable().run
    is_refused = place.settings.branch and not in_lanes and current(place.git) is None
    if not is_refused:  # else the run says what to end first
        _name_what_is_under_way(place, notify)
    _name_what_is_in_the_way(place, tasks, last_run, notify)
    # What is dirty may be of the agent of a run that has not ended, and that run knows.
    if in_lanes or (last_run and not last_run.over):
        return
    if dirty := ProjectFiles(place.root, place.git).dirty():
        files = plural(len(dirty), "file") if len(dirty) > 1 else f"`{dirty[0]}`"
        notify(f"note: the work tree is dirty ({files}); the run does not commit what you changed")


def _name_what_is_under_way(place: Workplace, notify: Notify) -> None:
    """Say which git commands wait to be continued, which the run leaves so."""
    for name, command in under_way(place.git).items() if place.git.is_repository else ():
        commits = "; while it is, the run cannot commit" if place.settings.commit else ""
        notify(f"note: a {command} is under way (`{name}` in the git directory), and is left so{commits}")


def _name_what_is_in_the_way(place: Workplace, tasks: Tasks, last_run: Run | None, notify: Notify) -> None:
    """Say which lock keeps the run from committing, and which completed tasks are not in HEAD."""
    if not place.git.is_repository:
        for text in lost_lines(lost_commits(place.git, tasks)):
            notify(f"note: {text}")
        return
    if os.path.lexists(lock := place.git.index_file.with_name("index.lock")):
        notify(f"note: `{lock}` exists; remove it if no git is at work, else nothing can be committed")
    goes_on = last_run is not None and (not last_run.over or bool(last_run.budget_hit))
    branch = last_run.own_branch if last_run and goes_on else None
    for text in lost_lines(lost_commits(place.git, tasks, branch.name if branch else "")):
        notify(f"note: {text}")


def refuse_unguarded(place: Workplace, agents: Sequence[str], notify: Notify) -> None:
    """Raise SamuelError if a guard would not hold for one of these agents; say so if that was accepted."""
    kind = place.settings.sandbox.kind
    for name in agents:
        agent = find(name, place.agents)
        if why := place.tool_hooks.refusal(agent, kind):
            raise SamuelError(why, _hint(name, place.tool_hooks.lost(agent, kind)))
        for guard in place.tool_hooks.lost(agent, kind):
            notify(f"note: not guarded, which was accepted: {guard}")
        if place.settings.coverage != "required" or place.is_stand_in(name):
            continue
        lack = no_bridge(agent, kind)
        if not lack and agent.stream is PlainStream:
            lack = "its output does not report tool calls; `stream` names the agent whose output format it has"
        if lack:
            raise SamuelError(
                f'the agent `{name}` cannot meet `coverage = "required"`: {lack}',
                "use another agent, or remove `coverage` from samuel.toml",
            )


def _hint(agent: str, guards: Sequence[LostGuard]) -> str:
    by_option = "`--accept-unguarded` starts the run all the same"
    if any(guard.is_own for guard in guards):  # a samuel.toml cannot give these up
        return by_option
    return f'{by_option}, and so does `unguarded = "accept"` below [agents.{agent}]'
