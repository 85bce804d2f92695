"""What of an opened project only sessions need: storing what hooks return, and running their follow-up actions."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import UNSET

from samuel.base.errors import SamuelError
from samuel.dispatch.record import Fired
from samuel.events import Event
from samuel.files.explained import reason
from samuel.git.git import Git
from samuel.process import spawn
from samuel.process.live import all_enclosing
from samuel.process.output import last_line
from samuel.sessions.follow_up import CommandResult, FollowUpActions, describe
from samuel.sessions.recorder import ChangedFiles, SessionRecorder
from samuel.sessions.store import SessionStore
from samuel.tasks.rights import asker
from samuel.tasks.store import TaskStore
from samuel.trust import commands

if TYPE_CHECKING:
    from samuel.app.project import App

COMMAND_SECONDS = 300.0


def recorder(app: App, confirm: Callable[[str], bool] | None = None) -> SessionRecorder:
    """Fires the events of sessions and stores what hooks return. `confirm` asks before a command runs."""
    files = ChangedFiles(lambda: Git(app.paths.root, app.variables), app.warn)
    return SessionRecorder(app.fire, SessionStore(app.paths.root), _actions(app, confirm), app.clock, files)


def recording_fire(app: App, tell: Callable[[str], None]) -> Callable[[Event], Fired]:
    """Like `app.fire`, and stores what hooks return in the event's session: an agent works there by itself.

    `tell` gets a line for each follow-up action that hooks propose. A session that cannot be stored is told as
    well and changes nothing else: the hooks have run, and the work goes on.
    """
    session_recorder = recorder(app)

    def fire(event: Event) -> Fired:
        fired = app.fire(event)
        if event.session_id is UNSET or event.dry_run:
            return fired
        try:
            for follow_up in session_recorder.keep(event.session_id, fired).follow_ups:
                tell(describe(follow_up))
        except (SamuelError, OSError) as error:
            tell(f"the results of hooks were not stored in the session: {reason(error)}")
        return fired

    return fire


def _actions(app: App, confirm: Callable[[str], bool] | None) -> FollowUpActions:
    allowed = commands.allowed(app.config)
    refusal = app.permit.text(allowed[0], allowed[1]) if allowed else ""

    def add_task(title: str) -> str:
        store = TaskStore(app.state, app.user.record(app.state))
        who = asker(os.environ, store.seal, all_enclosing(app.user.live))
        # Once, also when it is done: a hook that proposes it at every prompt would keep a run going for ever.
        if same_title := [task.id for task in store.load() if task.title == title]:
            return same_title[0]
        *_, task = store.change(
            lambda tasks: who.enqueue(tasks, title, priority="medium", complexity="medium", depends_on=()),
            trusted=who.trusted,
        )
        return task.id

    def run(words: list[str]) -> CommandResult:
        ended = spawn.run(words, cwd=str(app.paths.root), env=app.variables, timeout=COMMAND_SECONDS)
        if ended.ended != "exited":
            return CommandResult(False, ended.why or ended.ended.replace("_", " "))
        output = (ended.stdout + b"\n" + ended.stderr).decode("utf-8", "replace")
        return CommandResult(
            ended.returncode == 0, f"exit code {ended.returncode}: {last_line(output, 'it printed nothing')}"
        )

    if refusal:
        return FollowUpActions(add_task, run, (), confirm, f"not run: {refusal}")
    return FollowUpActions(add_task, run, app.config.allow_commands, confirm)
