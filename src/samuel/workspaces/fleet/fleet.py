"""The machines of a run as its coordinator sees them: which can take work, and how an attempt is given to one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from msgspec import UNSET
from msgspec.structs import replace

from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.events.loop import CheckRun
from samuel.history.notices import Report
from samuel.history.run import AttemptResult, AttemptUnderWay
from samuel.history.run_state import RunState
from samuel.history.tree_state import TreeState
from samuel.places.cluster import ClusterChoice
from samuel.places.place import PlaceBroken, PlaceCommand, PlaceConnection, PlaceLost
from samuel.version import __version__
from samuel.workspaces.fleet.drain import drained
from samuel.workspaces.fleet.exchange import Exchange, RemoteAway, refuse_exposed
from samuel.workspaces.fleet.machine import FAR_FUTURE, FleetMachine, MachineLeftOut
from samuel.workspaces.fleet.machine_answers import L, answers_of, ask_for, listen
from samuel.workspaces.fleet.options import FleetOptions
from samuel.workspaces.fleet.outbox import Inbox
from samuel.workspaces.fleet.records import claims_completion, restarted
from samuel.workspaces.fleet.refusal import MachineRefused
from samuel.workspaces.fleet.request_details import checks_of, resources_of, saved_tasks, texts_so_far
from samuel.workspaces.fleet.rule_files import rule_digests
from samuel.workspaces.fleet.wire import (
    COMMAND,
    PROTOCOL,
    InventoryLine,
    Line,
    MachineRequest,
    PruneRequest,
    ReadyLine,
    ResultLine,
    TaskRequest,
    line_of,
)
from samuel.workspaces.lanes.attempt import AttemptRequest

MOST_TROUBLES = 5  # in a row; then a place gets no more work
LONGEST_WAIT = 300.0  # seconds
ROOM = 256_000_000  # bytes that must be free on a machine
TROUBLE = (PlaceLost, PlaceBroken, MachineRefused, MachineLeftOut, RemoteAway)
"""What costs no attempt: a place, or the way to it, is at fault."""


class Fleet:
    def __init__(
        self,
        project: Workplace,
        state: RunState,
        options: FleetOptions,
        first_lane: int,
        watch: Callable[[int, Report], None],
    ) -> None:
        """Open the places. Raises SamuelError if one cannot be used from here, or there is no remote."""
        self._project = project
        self._state = state
        self._options = options
        self._watch = watch
        settings = options.settings
        self.exchange = Exchange(
            project.git, options.directory, settings.remote, state.run.run_id, settings.patience
        )
        refuse_exposed(project.git, project.lanes.copy)
        self._rules = rule_digests(project.root)
        self._machines: dict[str, FleetMachine] = {}
        self._connections: dict[str, PlaceConnection] = {}  # by task
        self._ended: set[str] = set()  # the tasks whose attempts a person wants to start again
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
        away, now = self._drained(), self._project.clock.now()
        machines = self._machines.values()
        free = [machine.free_lanes(taken, away, now) for machine in machines if self._is_ready(machine)]
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
        away, whys = self._drained(), []
        for name, machine in self._machines.items():
            if machine.state.status != "out" and not machine.is_drained(away):
                return ""
            whys.append(f"`{name}`: {machine.state.why or 'drained'}")
        return "; ".join(whys)

    def _drained(self) -> tuple[str, ...]:
        return drained(self._project.record, self._state.run.run_id)

    # One conversation with a machine

    def check(self, name: str, base: str) -> ReadyLine:
        """Ask a place whether it can work; of a cluster, each machine. Raises what is in TROUBLE.

        Machines of a cluster that cannot work are left out if another one can.
        """
        machine, answers = self._machines[name], self.check_each(name, base)
        ready = [answer for _, answer in answers if isinstance(answer, ReadyLine)]
        if not ready:
            raise next(answer for _, answer in answers if isinstance(answer, SamuelError))
        for member, answer in answers:
            if isinstance(answer, MachineRefused | PlaceBroken):
                left_out = machine.leave_out(member, answer, self._project.clock.now())
                self._project.warn(_with_hint(left_out))
        return ready[0]

    def check_each(self, name: str, base: str) -> list[tuple[str, ReadyLine | SamuelError]]:
        """The answers of the machines of a cluster, by id, or that of the one machine which the place is."""
        machine, agent = self._machines[name], self._state.run.agent
        try:
            needed = self.exchange.publish(base)
        except RemoteAway as error:
            return [("", error)]
        request = replace(
            self._request(machine, base, needed, agent), task_checks=checks_of(saved_tasks(self._project))
        )
        return answers_of(machine.place, lambda member: self._ask_for(ReadyLine, machine, request, member))

    def prune_each(
        self, name: str, runs: tuple[str, ...], choose: Callable[[InventoryLine], PruneRequest]
    ) -> list[tuple[str, InventoryLine | SamuelError]]:
        """Let machines remove what earlier attempts left, as far as `choose` says when it is given the list of it.

        The answers are as those of `check_each`.
        """
        machine = self._machines[name]
        request = self._request(machine, "", {}, self._state.run.agent)

        def prune(member: str) -> InventoryLine:
            listing = replace(request, prune=PruneRequest(runs=runs))
            chosen = choose(self._ask_for(InventoryLine, machine, listing, member))
            return self._ask_for(InventoryLine, machine, replace(request, prune=chosen), member)

        return answers_of(machine.place, prune)

    def _ask_for(self, kind: type[L], machine: FleetMachine, request: MachineRequest, member: str) -> L:
        command = PlaceCommand((COMMAND,), line_of(request), ClusterChoice(resources_of(request.agent), member))
        return ask_for(kind, machine.place, command, self._project)

    def machine_name(self, name: str, member: str) -> str:
        """What people call a machine of the cluster `name`, or the place itself."""
        return f"{name}/{self._machines[name].member_name(member)}" if member else name

    def attempt(
        self, request: AttemptRequest, record: AttemptUnderWay
    ) -> tuple[AttemptResult, tuple[CheckRun, ...] | None]:
        """Have an attempt done. Raises what is in TROUBLE, or RunStopped."""
        assert request.task is not None, "a discovery is made here"
        machine, task = self._machines[record.place], request.task.id
        self._ended.discard(task)
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
            acceptance=request.acceptance,
            texts=texts_so_far(self._project),
            timings=self._options.timings,
        )
        sent = self._request(machine, request.base, needed, record.agent)
        sent = replace(sent, work=work, task_checks=checks_of(request.tasks))
        avoided = machine.avoided(self._drained(), self._project.clock.now())
        choice = ClusterChoice(resources_of(record.agent), avoided=avoided)
        command = PlaceCommand((COMMAND,), line_of(sent), choice)
        try:
            line = self._ask(machine, command, record)
        except PlaceLost:
            if task in self._ended:
                now = self._project.clock.now()
                name = record.machine or machine.state.machine
                return restarted(request.run, request.task, replace(record, machine=name), now), None
            # The connection may have broken after the push. Its checks were not seen: they run before it lands.
            result = self.recovered(record, patience=0.0)
            if result is None:
                raise
            return result, None
        if not isinstance(line, ResultLine):
            raise PlaceBroken(f"`{record.place}` answered an attempt with a line `{type(line).__name__}`")
        return self._taken(line, record)

    def end(self, task: str) -> None:
        """End the attempt at a task, which is to start again. What it did stays in the clone of its machine."""
        self._ended.add(task)
        if task in self._connections:
            self._connections[task].cancel()

    def recovered(self, record: AttemptUnderWay, patience: float | None = None) -> AttemptResult | None:
        """What an attempt handed over while it was not listened to: then its agent is not paid again."""
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
        self, line: ResultLine, record: AttemptUnderWay, *, fetched: bool = False
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
            self._state.set_attempt(record.task, tree=tree)
        return replace(line.result, settlement=settlement), line.checks

    def _request(self, machine: FleetMachine, base: str, needed: dict[str, str], agent: str) -> MachineRequest:
        project, settings = self._project, self._options.settings
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
            environment=self._options.environment,
            agent=agent,
            agent_variables=tuple(project.agent_env(agent)),
            rules=self._rules,
            acceptance=project.settings.acceptance,
            require_checks=project.settings.require_checks,
            proof=project.settings.proof,
            accept_unguarded=self._options.accept_unguarded,
            patience=settings.patience,
            heartbeat=min(5.0, settings.silence / 6),
            room=ROOM,
        )

    def _ask(self, machine: FleetMachine, command: PlaceCommand, record: AttemptUnderWay) -> Line:
        """The last line of an attempt; what comes before is reported and collected."""
        connection = self._connections[record.task] = machine.place.start(command)
        if record.task in self._ended:  # before there was a connection
            connection.cancel()

        def watch(report: Report) -> None:
            nonlocal record
            if connection.machine and not record.machine:
                record = replace(record, machine=machine.member_name(connection.machine))
                self._state.set_attempt(record.task, machine=record.machine)
            self._watch(record.lane or 0, report)

        try:
            return listen(machine.name, connection, Inbox(self._project), watch)
        except (MachineRefused, PlaceBroken) as error:
            if connection.machine:
                now = self._project.clock.now()
                left_out = machine.leave_out(connection.machine, error, now)
                if machine.has_others(self._drained(), FAR_FUTURE if machine.is_gone(connection.machine) else now):
                    raise left_out from None
            raise

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
        if isinstance(error, MachineLeftOut):
            self._project.warn(_with_hint(error))
            self._save()
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
        self._project.warn(_with_hint(SamuelError(f"`{machine.name}` gets no work in this run: {why}", hint)))

    def _save(self) -> None:
        states = {
            name: replace(machine.state, machines=machine.machine_states())
            for name, machine in self._machines.items()
        }
        if self._state.run.lanes is not UNSET:
            self._state.set_lanes(fleet=states)

    def tidy(self) -> None:
        """Remove the refs of the run from the remote: all of its work has landed."""
        with suppress(SamuelError):
            self.exchange.remove()

    def close(self) -> None:
        for machine in self._machines.values():
            with suppress(SamuelError, OSError):
                machine.place.close()


def _with_hint(error: SamuelError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
