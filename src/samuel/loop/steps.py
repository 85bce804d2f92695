"""Firing the events of a run: every step goes through here, with the run's names on it.

What handlers contribute under `data` is kept for the steps that follow, warnings go to progress.md, and a strict
failure ends the iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from samuel.clock import iso
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import AgentInvoke, Event, LoopEvent, QualityCheck
from samuel.hooks.handler import Origin, Outcome
from samuel.loop.patient_tasks import PatientTasks
from samuel.loop.protect import Protected
from samuel.loop.run import Run
from samuel.loop.state_files import misplaced, put_right
from samuel.loop.stop import IterationEnded, Stop
from samuel.loop.workplace import Workplace
from samuel.loop.worktree import ProjectFiles


class Steps:
    def __init__(
        self,
        place: Workplace,
        fire: Callable[[Event], Fired],
        context: Callable[[], dict[str, Any]],
        stop: Stop,
        *,
        timings: bool = False,
        dry_run: bool = False,
        replacements: Sequence[str] = (),
    ) -> None:
        """`replacements` are the warnings about handlers that take another's place in this project."""
        self._place = place
        self._fire = fire
        self._context = context
        self._stop = stop
        self._timings = timings
        self._replacements = replacements
        self.dry_run = dry_run
        self.tasks = PatientTasks(place, stop)
        self.worktree = ProjectFiles(place.root, place.git)
        self.protected = Protected(place.root)
        self.plugins: Mapping[str, Any] = {}  # what handlers contributed in this iteration
        self._replaced: list[str] = []  # of the state's files, by an agent or a check
        self._misplaced: set[Path] = set()  # those that were so before

    def new_iteration(self, run: Run) -> None:
        """Contributions last for an iteration; those of before:loop for the run."""
        self.plugins = run.plugins

    def fire(self, run: Run, event: Event, state: Mapping[str, Any] | None = None) -> Fired:
        """Fire one event of the run. Raises IterationEnded for a strict failure, a denial or a request to stop."""
        fired = self._fire(self._stamped(run, event, state or {}))
        if isinstance(event, AgentInvoke | QualityCheck) and not self.dry_run:
            self._put_right()  # before anything is written there
        if fired.context:
            self.plugins = fired.context.get("Plugins", {})
        self._note(fired)
        if self._stop.requested:
            raise IterationEnded("aborted", "interrupted", "interrupted")
        if fired.stopped:
            raise IterationEnded("aborted", fired.reason, fired=fired)
        return fired

    def expect_state_files(self) -> None:
        """From now on, what is not a file or a directory as it should be was made so by whoever works."""
        self._replaced, self._misplaced = [], misplaced(self._place.root, self._place.state)

    def replaced_state_files(self) -> list[str]:
        """Which files of the state are not what they were; they are put right."""
        self._put_right()
        return self._replaced

    def _put_right(self) -> None:
        self._replaced += put_right(self._place.root, self._place.state, self._misplaced)

    def last_words(self, run: Run, event: Event) -> Fired:
        """Fire an event that is fired whatever happened before."""
        fired = self._fire(self._stamped(run, event, {}))
        self._note(fired)
        return fired

    def _stamped(self, run: Run, event: Event, state: Mapping[str, Any]) -> Event:
        event = replace(event, run_id=run.run_id, methodology=run.methodology, dry_run=self.dry_run)
        if not isinstance(event, LoopEvent):
            return replace(event, session_id=run.session_id)
        context = self._context()
        context["Iteration"] = {"Number": run.iteration, "Max": run.max_iterations}
        context["Mode"] = run.mode
        context["State"] = {
            **context["State"],
            "RunId": run.run_id,
            "Agent": run.agent,
            "ConsecutiveFailures": run.consec_fails,
            "EmptyDiscoveries": run.empty_discoveries,
            "Usage": run.usage,
            **state,
        }
        context["Plugins"] = self.plugins
        return replace(event, iteration=run.iteration, mode=run.mode, context=context)

    def _note(self, fired: Fired) -> None:
        """Messages for the person. Warnings, and timings if wanted, for the next iteration's reader."""
        for message in fired.messages:
            self._place.watch("message", {"text": message})
        lines = [f"[hooks.warning] {_described(fired, call)}" for call in fired.calls if _worth_a_line(call)]
        if self._timings:
            lines += [
                f"[hooks.timing] {call.handler.event} {call.handler.name} {call.duration_ms:.1f} ms"
                for call in fired.calls
            ]
        for line in lines:
            if line.startswith("[hooks.warning]"):
                self._place.watch("warning", {"text": line.removeprefix("[hooks.warning] ")})
        self.write_note(*lines)

    def say_replacements(self, *, write: bool) -> None:
        """Who runs in the place of whom: once a run, not at each event. `write` puts it into progress.md too."""
        for text in self._replacements:
            self._place.watch("warning", {"text": text})
        if write:
            self.write_note(*(f"[hooks.warning] {text}" for text in self._replacements))

    def write_note(self, *lines: str) -> None:
        """Add lines to progress.md; a dry run writes nothing."""
        if lines and not self.dry_run:
            stamp = iso(self._place.clock.now())
            self._place.append(self._place.progress, "".join(f"{stamp} {line}\n" for line in lines))


def _worth_a_line(call: HandlerCall) -> bool:
    """A check that says no has done its work: that is the iteration's outcome, not a hook's fault."""
    if call.handler.origin is Origin.BUILT_IN and call.outcome is Outcome.FAILED:
        return False
    return call.outcome is not Outcome.OK or bool(call.message)


def _described(fired: Fired, call: HandlerCall) -> str:
    message = " ".join(call.message.split())[:500]
    return f"{call.handler.event} plugin={call.handler.key} hook={call.handler.name} {call.outcome}: {message}"
