"""Asking machines whether they could work on a project, without a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from samuel.app.lanes import fleet_options
from samuel.base.errors import SamuelError
from samuel.config.place_spec import PlaceSpec
from samuel.git.git import Git
from samuel.history.reports import Report
from samuel.history.run import LanesState, Run
from samuel.history.run_state import RunState
from samuel.places.place import PlaceBroken
from samuel.trust import commands
from samuel.workspaces.fleet.exchange import RemoteAway
from samuel.workspaces.fleet.fleet import Fleet
from samuel.workspaces.fleet.refusal import MachineRefused
from samuel.workspaces.fleet.wire import ReadyLine

if TYPE_CHECKING:
    from samuel.app.project import App

AT_ONCE = 16  # places

T = TypeVar("T")


class PlaceAnswer(NamedTuple):
    """What a place answered, or one machine of a cluster."""

    place: str
    ok: bool
    code: str = ""
    """What is missing, in one word: `trust`, `agent`, `disk`, …

    `place` if it cannot be used from here, `lost` if it was not reached.
    """
    why: str = ""
    hint: str = ""
    machine: str = ""
    version: str = ""
    clone: str = ""


def check_places(app: App, specs: Sequence[PlaceSpec], agent: str) -> list[PlaceAnswer]:
    """The answers of these places, in the same order; of a cluster, those of its machines.

    Raises SamuelError if the project cannot use any machine.
    """
    with fleet_without_a_run(app, specs, agent) as (fleet, head):
        try:
            try:
                fleet.exchange.publish(head)  # once: each place would wait for the remote as long
            except RemoteAway as error:
                return [PlaceAnswer(name, False, "remote", error.message, error.hint) for name in fleet.names]
            return of_all_places(fleet, lambda name: _answers(fleet, name, head))
        finally:
            with suppress(SamuelError):
                fleet.exchange.remove()


def of_all_places(fleet: Fleet, answers_of_place: Callable[[str], list[T]]) -> list[T]:
    """What all places answer, asked at once."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return [answer for answers in threads.map(answers_of_place, fleet.names) for answer in answers]


@contextmanager
def fleet_without_a_run(app: App, specs: Sequence[PlaceSpec], agent: str) -> Iterator[tuple[Fleet, str]]:
    """The machines of these places, and the commit that is checked out here.

    Raises SamuelError if the project cannot use any machine.
    """
    place = app.workplace
    if why := place.refusal(commands.fleet(app.config.fleet)):
        raise SamuelError(why)
    head = _committed(place.git)
    run = Run(
        run_id=app.clock.new_id("check"),
        methodology=app.methodology,
        agent=agent,
        agents=[agent],
        started_at=app.clock.now(),
        max_iterations=0,
        lanes=LanesState(count=0, branch="", start=head, tip=head),
    )
    state = RunState(lambda run: run, run)
    fleet = Fleet(place, state, fleet_options(app, specs, timings=False), 1, _ignore)
    try:
        yield fleet, head
    finally:
        fleet.close()


def _answers(fleet: Fleet, name: str, head: str) -> list[PlaceAnswer]:
    if why := fleet.problem(name):
        return [PlaceAnswer(name, False, "place", why)]
    answers = fleet.check_each(name, head)
    return [_answer(fleet.machine_name(name, member), answer) for member, answer in answers]


def _answer(name: str, answer: ReadyLine | SamuelError) -> PlaceAnswer:
    if isinstance(answer, SamuelError):
        return PlaceAnswer(name, False, code_of(answer), answer.message, answer.hint)
    return PlaceAnswer(name, True, machine=answer.machine, version=answer.version, clone=answer.directory)


def code_of(error: SamuelError) -> str:
    """What is missing, in one word."""
    if isinstance(error, MachineRefused):
        return error.code
    if isinstance(error, RemoteAway):
        return "remote"
    return "place" if isinstance(error, PlaceBroken) else "lost"


def _committed(git: Git) -> str:
    if not git.is_repository or not (head := git.head()):
        what = "machines exchange commits, and this project has none yet"
        raise SamuelError(what, "`git init`, `git add` and `git commit` make one")
    return head


def _ignore(lane: int, report: Report) -> None:
    """What a machine reports while it is checked."""
