"""Firing the events of a run: every step goes through here, with the run's names on it.

What handlers contribute under `data` is kept for the steps that follow, warnings go to progress.md, and a strict
failure ends the iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from samuel.attempt.stop import IterationEnded, Stop, interrupted
from samuel.attempt.workplace import Workplace
from samuel.background.wire import EndedCall
from samuel.base.clock import iso
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import AgentInvoke, Event, LoopEvent, QualityCheck, SessionEnd, SessionStart
from samuel.events.catalogue import BY_PAYLOAD
from samuel.events.endings import IterationOutcome
from samuel.events.names import BEFORE_LAND
from samuel.history.notices import HandlerMessage, LoopWarning, StepStarted
from samuel.history.run import Run
from samuel.history.state_files import StateFiles
from samuel.hooks.handler import Origin, Outcome
from samuel.prompts.prompt_context import IterationNames, PromptContext, StateNames

NO_TASK = StateNames()
"""`State` outside of an iteration, without the names of the run."""


class ProgressNote(NamedTuple):
    """A line that the loop itself adds to progress.md."""

    kind: Literal["hooks.warning", "hooks.timing", "loop.ended"]
    text: str

    def __str__(self) -> str:
        return f"[{self.kind}] {self.text}"


class Steps:
    def __init__(
        self,
        place: Workplace,
        fire: Callable[[Event], Fired],
        context: PromptContext,
        stop: Stop,
        *,
        timings: bool = False,
        dry_run: bool = False,
        replacements: Sequence[str] = (),
        ended_in_background: Callable[[], Sequence[EndedCall]] = tuple,
    ) -> None:
        """`context` is the part of every event's PromptContext that does not change during a run.

        `replacements` are the warnings about handlers that replace another one in this project;
        `ended_in_background` gives the background handlers that failed since it was last called.
        """
        self._place = place
        self._fire = fire
        self._context = context
        self._stop = stop
        self._timings = timings
        self._replacements = replacements
        self._ended_in_background = ended_in_background
        self._contributions: Mapping[str, Any] = {}  # of handlers in this iteration: `Plugins` of the context
        self.state = NO_TASK  # `State` of the events, but for what the run knows at each of them
        self.dry_run = dry_run
        self.agent_started = False  # in this iteration
        self.open_session: Run | None = None  # the run as of SessionStart, until SessionEnd
        self.state_files = StateFiles(place.root, place.state)

    def new_iteration(self, run: Run, state: StateNames = NO_TASK) -> None:
        """Contributions last for an iteration; those of before:loop for the run. `state` is about its task."""
        self._contributions = run.plugins
        self.state = state
        self.agent_started = False

    def fire(self, run: Run, event: Event) -> Fired:
        """Fire an event that must succeed. Raises IterationEnded for a strict failure, a denial or a stop."""
        fired = self.ask(run, event)
        if fired.stopped:
            raise IterationEnded(IterationOutcome.ABORTED, fired.reason)
        return fired

    def ask(self, run: Run, event: Event) -> Fired:
        """Fire an event of which the caller judges the result.

        Raises RunStopped if a stop was requested before the agent started.
        """
        fired = self._fire_step(run, event)
        if isinstance(event, AgentInvoke | QualityCheck) and not self.dry_run:
            self.state_files.put_right()  # before anything is written there
        if fired.context:
            self._contributions = fired.context.get("Plugins", {})
        self._record(fired)
        if self._stop.requested and not self.agent_started:  # an attempt that was begun is finished
            raise interrupted()
        return fired

    def notify(self, run: Run, event: Event) -> Fired:
        """Fire an event that is fired whatever happened before, and that can stop nothing any more."""
        fired = self._fire_step(run, event)
        self._record(fired)
        return fired

    def _fire_step(self, run: Run, event: Event) -> Fired:
        self._place.watch(StepStarted(BY_PAYLOAD[type(event)].name))
        return self._fire(self._stamped(run, event))

    def _stamped(self, run: Run, event: Event) -> Event:
        if isinstance(event, SessionStart | SessionEnd):
            self.open_session = run if isinstance(event, SessionStart) else None
        event = replace(event, run_id=run.run_id, methodology=run.methodology, dry_run=self.dry_run)
        if not isinstance(event, LoopEvent):
            return replace(event, session_id=run.session_id)
        context = self._context_of(run).plain()
        return replace(event, iteration=run.iteration, mode=run.mode, context=context)

    def _context_of(self, run: Run) -> PromptContext:
        return replace(
            self._context,
            Iteration=IterationNames(run.iteration, run.max_iterations),
            Mode=run.mode,
            State=replace(
                self.state,
                Skills=self._context.State.Skills,
                RunId=run.run_id,
                Agent=run.agent,
                ConsecutiveFailures=run.consec_fails,
                EmptyDiscoveries=run.empty_discoveries,
                Usage=run.usage,
            ),
            Plugins=self._contributions,
        )

    def _record(self, fired: Fired) -> None:
        """Messages for the user; warnings, and timings if asked for, for those who read progress.md later."""
        for message in fired.messages:
            self._place.watch(HandlerMessage(message))
        warnings = [_warning(call) for call in fired.calls if _is_worth_a_warning(call)]
        warnings += [_background_warning(call) for call in self._ended_in_background()]
        timings = [_timing(call) for call in fired.calls] if self._timings else []
        self._warn(warnings)
        self.write_notes(*warnings, *timings)

    def report_replacements(self, *, write: bool) -> None:
        """Which handlers replace others: once a run, not at each event. `write` adds it to progress.md too."""
        warnings = [ProgressNote("hooks.warning", text) for text in self._replacements]
        self._warn(warnings)
        if write:
            self.write_notes(*warnings)

    def _warn(self, warnings: Sequence[ProgressNote]) -> None:
        for warning in warnings:
            self._place.watch(LoopWarning(warning.text))

    def write_notes(self, *notes: ProgressNote) -> None:
        """Add lines to progress.md; a dry run writes nothing."""
        if notes and not self.dry_run:
            stamp = iso(self._place.clock.now())
            self._place.append(self._place.progress, "".join(f"{stamp} {note}\n" for note in notes))


def _is_worth_a_warning(call: HandlerCall) -> bool:
    """Whether a call is a fault of a hook. A built-in check that fails has done its work."""
    if call.handler.origin is Origin.BUILT_IN and call.outcome is Outcome.FAILED:
        return False
    if call.handler.event == BEFORE_LAND and call.outcome is Outcome.DENIED:
        return False  # the landing is held back, and says why
    return call.outcome is not Outcome.OK or bool(call.message)


def _warning(call: HandlerCall) -> ProgressNote:
    handler, message = call.handler, " ".join(call.message.split())[:500]
    text = f"{handler.event} plugin={handler.key} hook={handler.name} {call.outcome}: {message}"
    return ProgressNote("hooks.warning", text)


def _background_warning(call: EndedCall) -> ProgressNote:
    text = f"{call.event} plugin={call.plugin} hook={call.handler} {call.outcome}: {call.message}"
    return ProgressNote("hooks.warning", text)


def _timing(call: HandlerCall) -> ProgressNote:
    text = f"{call.handler.event} {call.handler.name} {call.duration_ms:.1f} ms"
    return ProgressNote("hooks.timing", text)
