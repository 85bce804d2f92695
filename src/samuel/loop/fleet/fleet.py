"""The machines of a run as its coordinator sees them: which can take work, and how an attempt is given to one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from samuel.config.model import FleetSettings
from samuel.config.place_spec import PlaceSpec
from samuel.errors import SamuelError
from samuel.events.endings import ExitReason
from samuel.events.loop import CheckRun
from samuel.loop.attempts import TreeState
from samuel.loop.fleet.drain import drained
from samuel.loop.fleet.exchange import Exchange, RemoteAway
from samuel.loop.fleet.exposed import refuse_exposed
from samuel.loop.fleet.machine import FleetMachine
from samuel.loop.fleet.outbox import Inbox
from samuel.loop.fleet.records import claims_completion
from samuel.loop.fleet.refusal import MachineRefused
from samuel.loop.fleet.report_lines import report_of
from samuel.loop.fleet.rule_files import rule_digests
from samuel.loop.fleet.wire import (
    COMMAND,
    PROTOCOL,
    CancelledLine,
    FileLine,
    HeartbeatLine,
    Line,
    MachineRequest,
    ReadyLine,
    RefusalLine,
    ReportLine,
    ResultLine,
    StoppedLine,
    TaskRequest,
    line_of,
    read_line,
)
from samuel.loop.lanes.attempt import AttemptRequest
from samuel.loop.lanes.run_state import SharedRun
from samuel.loop.reports import Report
from samuel.loop.run import AttemptResult, LaneRecord
from samuel.loop.stop import RunStopped
from samuel.loop.workplace import Workplace
from samuel.places.place import Place, PlaceBroken, PlaceCommand, PlaceLost
from samuel.prompts import background
from samuel.version import __version__

MOST_TROUBLES = 5  # in a row; then a place gets no more work
LONGEST_WAIT = 300.0  # seconds
ROOM = 256_000_000  # bytes that must be free on a machine
MOST_TEXT = 256 * 1024  # characters of what was learned so far
TROUBLE = (PlaceLost, PlaceBroken, MachineRefused, RemoteAway)
"""What costs no attempt: a place, or the way to it, is at fault."""

_ENDS_RUN = (ExitReason.GATE_STOP, ExitReason.STRICT_FAILURE)


class FleetOptions(NamedTuple):
    """How a run uses other machines."""

    specs: tuple[PlaceSpec, ...]
    settings: FleetSettings
    open_place: Callable[[PlaceSpec, FleetSettings], Place]
    directory: Path
    """Where the coordinator keeps its transfers."""
    environment: str
    timings: bool
    accept_unguarded: bool


class Fleet:
    def __init__(
        self,
        project: Workplace,
        shared: SharedRun,
        options: FleetOptions,
        first_lane: int,
        watch: Callable[[int, Report], None],
    ) -> None:
        """Open the places. Raises SamuelError if one cannot be used from here, or there is no remote."""
        self._project = project
        self._shared = shared
        self._options = options
        self._watch = watch
        settings = options.settings
        self.exchange = Exchange(
            project.git, options.directory, settings.remote, shared.run.run_id, settings.patience
        )
        refuse_exposed(project.git, project.lanes.copy)
        self._rules = rule_digests(project.root)
        self._machines: dict[str, FleetMachine] = {}
        for spec in options.specs:
            place = options.open_place(spec, settings)
            why = place.problem()  # first: a place may have to look at itself to count its slots
            lanes = tuple(range(first_lane, first_lane + max(place.slots, 0)))
            first_lane += len(lanes)
            machine = FleetMachine(spec, place, lanes)
            self._machines[machine.name] = machine
            if why:
                self._out(machine, why)
        self._save()

    # Which place takes work

    @property
    def slots(self) -> int:
        return sum(len(machine.state.lanes) for machine in self._machines.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._machines)

    def problem(self, name: str) -> str:
        """Why a place cannot be used from here; "" if it can."""
        state = self._machines[name].state
        return state.why if state.status == "out" else ""

    def free_lane(self, taken: Collection[int]) -> int | None:
        """A slot of a place that can take work now; the place with the most free slots first."""
        away = drained(self._project.record, self._shared.run.run_id)
        free = [
            [lane for lane in machine.state.lanes if lane not in taken]
            for machine in self._machines.values()
            if machine.name not in away and self._is_ready(machine)
        ]
        best = max(free, key=len, default=[])
        return best[0] if best else None

    def _is_ready(self, machine: FleetMachine) -> bool:
        state = machine.state
        if state.status == "waiting" and self._project.clock.now() >= state.until and state.machine:
            return True  # the next attempt tries whether it works again
        return state.status == "ready"

    def place_of(self, lane: int) -> str:
        """The name of the place that a slot belongs to."""
        return next(name for name, machine in self._machines.items() if lane in machine.state.lanes)

    def to_check(self) -> Iterator[str]:
        """The places that have to be checked before they get work."""
        for name, machine in self._machines.items():
            state = machine.state
            is_due = state.status == "checking" or (
                state.status == "waiting" and not state.machine and self._project.clock.now() >= state.until
            )
            if is_due and not machine.is_busy_checking:
                machine.is_busy_checking = True
                yield name

    def why_none(self) -> str:
        """Why no place will ever take work in this run; "" if one may."""
        away = drained(self._project.record, self._shared.run.run_id)
        whys = []
        for name, machine in self._machines.items():
            if machine.state.status != "out" and name not in away:
                return ""
            whys.append(f"`{name}`: {machine.state.why or 'drained'}")
        return "; ".join(whys)

    # One conversation with a machine

    def check(self, name: str, base: str) -> ReadyLine:
        """Ask a place whether it can work. Raises what is in TROUBLE."""
        machine = self._machines[name]
        needed = self.exchange.publish(base)
        agent = self._shared.run.agent
        line = self._ask(machine, self._request(machine, base, needed, agent), _resources(agent), None)
        if not isinstance(line, ReadyLine):
            raise PlaceBroken(f"`{name}` answered a check with a line `{type(line).__name__}`")
        return line

    def attempt(
        self, lane: int, request: AttemptRequest, record: LaneRecord
    ) -> tuple[AttemptResult, tuple[CheckRun, ...] | None]:
        """Have an attempt done. Raises what is in TROUBLE, or RunStopped."""
        machine, task = self._machines[record.place], request.task.id
        last = request.last_attempts.get(task)
        needed = self.exchange.publish(request.base, task, last)
        work = TaskRequest(
            run=replace(request.run, tree=TreeState(), waits={}, pinned={}, complaints=[]),
            task=request.task,
            tasks=tuple(request.tasks),
            attempt=record.attempt,
            checks=request.checks.remembered,
            fresh=request.fresh,
            last=last if last is not None and last.ref else None,
            texts=self._texts(),
            timings=self._options.timings,
        )
        sent = replace(self._request(machine, request.base, needed, record.agent), work=work)
        try:
            line = self._ask(machine, sent, _resources(record.agent), lane)
        except PlaceLost:
            # The connection may have broken after the push. Nobody saw its checks: they run before it lands.
            result = self.recovered(record, patience=0.0)
            if result is None:
                raise
            return result, None
        if not isinstance(line, ResultLine):
            raise PlaceBroken(f"`{record.place}` answered an attempt with a line `{type(line).__name__}`")
        return self._taken(line, record)

    def recovered(self, record: LaneRecord, patience: float | None = None) -> AttemptResult | None:
        """What an attempt handed over that nobody listened to: then its agent is not paid again."""
        try:
            line = self.exchange.find(record, patience)
        except SamuelError as error:
            self._project.warn(f"what became of task `{record.task}` at `{record.place}` is lost: {error.message}")
            return None
        if line is None:
            return None
        if not line.result.work and claims_completion(line.result):  # there is nothing that could be checked here
            self._project.warn(
                f"the record of task `{record.task}` completes it without any work: it is done again"
            )
            return None
        return self._taken(line, record, fetched=True)[0]

    def _taken(
        self, line: ResultLine, record: LaneRecord, *, fetched: bool = False
    ) -> tuple[AttemptResult, tuple[CheckRun, ...] | None]:
        """The result in the words of this repository."""
        if not fetched:
            try:
                line = self.exchange.take(line, record)
            except RemoteAway:
                raise
            except SamuelError as error:
                raise PlaceBroken(f"`{record.place}`: {error.message}", error.hint) from None
        settlement = line.result.settlement
        if settlement.record is not None:
            entry = replace(settlement.record, lane=record.lane, machine=line.machine)
            settlement = replace(settlement, record=entry)
        if line.last is not None and not line.result.work:
            tree = TreeState(attempts={record.task: line.last})
            self._shared.change_active(record.task, tree=tree)
        return replace(line.result, settlement=settlement), line.checks

    def _request(self, machine: FleetMachine, base: str, needed: dict[str, str], agent: str) -> MachineRequest:
        project, options = self._project, self._options
        silence = options.settings.silence
        return MachineRequest(
            protocol=PROTOCOL,
            version=__version__,
            place=machine.name,
            machine=machine.spec.machine,
            directory=machine.spec.directory,
            remote=self.exchange.remote,
            url=self.exchange.url,
            prefix=project.git.location().prefix.decode("utf-8", "surrogateescape"),
            base=base,
            needed=needed,
            methodology=project.settings.name,
            environment=options.environment,
            agent=agent,
            agent_variables=tuple(project.agent_env(agent)),
            rules=self._rules,
            require_checks=project.settings.require_checks,
            accept_unguarded=options.accept_unguarded,
            patience=options.settings.patience,
            heartbeat=min(5.0, silence / 6),
            room=ROOM,
        )

    def _ask(
        self, machine: FleetMachine, request: MachineRequest, resources: dict[str, float], lane: int | None
    ) -> Line:
        """The last line of a command at a place; what comes before is reported and collected."""
        connection = machine.place.start(PlaceCommand((COMMAND,), line_of(request), resources))
        inbox = Inbox(self._project)
        answer: Line | None = None
        try:
            for data in connection.lines():
                line = read_line(data)
                match line:
                    case HeartbeatLine():
                        pass
                    case ReportLine():
                        if lane is not None:
                            self._watch(lane, report_of(line))
                    case FileLine():
                        inbox.take(line)
                    case _:
                        answer = line
        except (PlaceLost, PlaceBroken):
            if answer is None:
                raise
        except SamuelError as error:  # what it printed makes no sense
            raise PlaceBroken(f"`{machine.name}`: {error.message}", error.hint) from None
        finally:
            connection.cancel()
            inbox.finish()
        match answer:
            case None:
                raise PlaceLost(f"`{machine.name}` ended without a record of its attempt")
            case RefusalLine():
                raise MachineRefused(answer.code, answer.why, answer.hint, lasting=answer.lasting)
            case CancelledLine():
                raise PlaceLost(f"the attempt at `{machine.name}` was cancelled there")
            case StoppedLine() if answer.exit_reason in _ENDS_RUN:
                raise RunStopped(answer.outcome, answer.why, answer.exit_reason)
            case StoppedLine():
                raise PlaceLost(f"the attempt at `{machine.name}` could not go on: {answer.why}")
        return answer

    def _texts(self) -> dict[str, str]:
        """What was learned so far, for the prompt."""
        texts = {}
        for name in (background.FILE, self._project.progress.name):
            with suppress(OSError):
                texts[name] = (self._project.state / name).read_text("utf-8", "replace")[-MOST_TEXT:]
        return texts

    # What came of it

    def checked(self, name: str, ready: ReadyLine) -> None:
        machine = self._machines[name]
        machine.is_busy_checking = False
        machine.troubles = 0
        machine.state = replace(
            machine.state,
            status="ready",
            why="",
            until=0.0,
            machine=ready.machine,
            version=ready.version,
            directory=ready.directory,
        )
        self._save()

    def worked(self, name: str) -> None:
        """An attempt at this place came to a result, so the place is in order."""
        machine = self._machines.get(name)
        if machine is None or machine.state.status == "out":  # another slot may have found what lasts
            return
        if machine.state.status == "ready" and not machine.troubles:
            return
        machine.troubles = 0
        machine.state = replace(machine.state, status="ready", why="", until=0.0)
        self._save()

    def trouble(self, name: str, error: SamuelError, began: float | None = None) -> None:
        """A place could not work: it is tried again later, or gets no more work.

        `began` is when the attempt began. All attempts that one outage ends are one trouble, however many slots
        the place has.
        """
        machine, now = self._machines[name], self._project.clock.now()
        machine.is_busy_checking = False
        if machine.state.status == "out":
            return
        lasts = isinstance(error, PlaceBroken) or (isinstance(error, MachineRefused) and error.lasting)
        if not lasts and began is not None and began < machine.troubled_at:
            self._project.warn(f"{error.message}; no attempt is counted")
            return
        machine.troubled_at = now
        # A remote that worked before will work again. One that never did is given up like a machine.
        machine.troubles += not (isinstance(error, RemoteAway) and error.passes and machine.state.machine)
        if lasts or machine.troubles >= MOST_TROUBLES:
            self._out(machine, error.message, error.hint)
        else:
            seconds = min(self._options.settings.retry * 2 ** max(machine.troubles - 1, 0), LONGEST_WAIT)
            machine.state = replace(machine.state, status="waiting", why=error.message, until=now + seconds)
            self._project.warn(f"{error.message}; `{name}` is tried again in {seconds:g}s, no attempt is counted")
        self._save()

    def _out(self, machine: FleetMachine, why: str, hint: str = "") -> None:
        machine.state = replace(machine.state, status="out", why=why)
        advice = f"; {hint}" if hint else ""
        self._project.warn(f"`{machine.name}` gets no work in this run: {why}{advice}")

    def _save(self) -> None:
        states = {name: machine.state for name, machine in self._machines.items()}
        if self._shared.run.lanes is not UNSET:
            self._shared.set_lanes(fleet=states)

    def tidy(self) -> None:
        """Remove the refs of the run from the remote: all of its work has landed."""
        with suppress(SamuelError):
            self.exchange.remove()

    def close(self) -> None:
        for machine in self._machines.values():
            with suppress(SamuelError, OSError):
                machine.place.close()


def _resources(agent: str) -> dict[str, float]:
    """What an attempt takes of a machine, and a check too: so what nobody has is named before any task."""
    return {"agent": 1.0, agent: 1.0}
