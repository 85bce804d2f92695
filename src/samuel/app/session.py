"""What of an opened project only sessions need: who does what hooks propose, and who keeps it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import UNSET

from samuel.dispatch.record import Fired
from samuel.errors import SamuelError
from samuel.events import Event
from samuel.process import spawn
from samuel.process.git.git import Git
from samuel.process.live import all_enclosing
from samuel.process.output import last_line
from samuel.sessions.changed_files import ChangedFiles
from samuel.sessions.follow_up import CommandResult, FollowUpActions, described
from samuel.sessions.recorder import SessionRecorder
from samuel.sessions.store import SessionStore
from samuel.tasks.rights import asker
from samuel.tasks.store import TaskStore
from samuel.trust import commands

if TYPE_CHECKING:
    from samuel.app.project import App

COMMAND_SECONDS = 300.0


def keeper(app: App, confirm: Callable[[str], bool] | None = None) -> SessionRecorder:
    files = ChangedFiles(Git(app.paths.root, app.variables), app.warn)
    return SessionRecorder(app.fire, SessionStore(app.paths.root), _desk(app, confirm), app.clock, files)


def following(app: App, tell: Callable[[str], None]) -> Callable[[Event], Fired]:
    """Fires like the project does, and keeps what hooks say for sessions in which an agent works by itself.

    `tell` gets a line for each thing they propose. That something cannot be kept is told, and no more: the hooks
    were asked, and the work goes on.
    """
    kept_by = keeper(app)

    def fire(event: Event) -> Fired:
        fired = app.fire(event)
        if event.session_id is UNSET or event.dry_run:
            return fired
        try:
            for one in kept_by.keep(event.session_id, fired).follow_ups:
                tell(described(one))
        except (SamuelError, OSError) as error:
            tell(f"what hooks said is not kept: {error}")
        return fired

    return fire


def _desk(app: App, confirm: Callable[[str], bool] | None) -> FollowUpActions:
    allowed = commands.allowed(app.config)
    refusal = app.permit.text(allowed[0], allowed[1]) if allowed else ""

    def add_task(title: str) -> str:
        store = TaskStore(app.state, app.user.record(app.state))
        who = asker(os.environ, store.seal, all_enclosing(app.user.live))
        # Once, also when it is done: a hook that says the same at every prompt would keep a run going for ever.
        if known := [task.id for task in store.load() if task.title == title]:
            return known[0]
        *_, task = store.change(
            lambda tasks: who.enqueue(tasks, title, priority="medium", complexity="medium", depends_on=()),
            trusted=who.trusted,
        )
        return task.id

    def run(words: list[str]) -> CommandResult:
        ended = spawn.run(words, cwd=str(app.paths.root), env=app.variables, timeout=COMMAND_SECONDS)
        if ended.ended != "exited":
            return CommandResult(False, ended.why or ended.ended.replace("_", " "))
        said = (ended.stdout + b"\n" + ended.stderr).decode("utf-8", "replace")
        return CommandResult(
            ended.returncode == 0, f"exit code {ended.returncode}: {last_line(said, 'it said nothing')}"
        )

    if refusal:
        return FollowUpActions(add_task, run, (), confirm, f"it waits: {refusal}")
    return FollowUpActions(add_task, run, app.config.allow_commands, confirm)
