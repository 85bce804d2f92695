"""The steps of a run: how an attempt in one work tree fires its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samuel.app.session_events import recording_fire
from samuel.attempt.steps import Steps
from samuel.attempt.stop import Stop
from samuel.history.notices import HandlerMessage

if TYPE_CHECKING:
    from samuel.app.project import App


def steps_of(app: App, stop: Stop, *, timings: bool, dry_run: bool = False) -> Steps:
    fire = recording_fire(app, lambda line: app.workplace.watch(HandlerMessage(line)))
    replacements = [
        warning
        for chain in app.chains.values()
        for warning in chain.warnings
        if chain.event.family != "lifecycle"  # a run fires none of these
    ]
    return Steps(
        app.workplace,
        fire,
        app.prompt_context(),
        stop,
        timings=timings,
        dry_run=dry_run,
        replacements=replacements,
        ended_in_background=app.background.ended,
    )
