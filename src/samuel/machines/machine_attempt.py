"""One attempt for a coordinator on another machine: from a request to a record, and a work ref on the remote."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from samuel.app.loop import pinned_facts
from samuel.app.options import AppLane, Machine, Overrides
from samuel.app.project import App
from samuel.app.run_steps import steps_of
from samuel.attempt.protect import Protected
from samuel.attempt.stop import RunStopped, Stop
from samuel.attempt.turn.tool_hooks import accepting_unguarded
from samuel.base.clock import SystemClock
from samuel.base.decoding import decode_json
from samuel.base.errors import Locked, SamuelError
from samuel.base.paths import User
from samuel.checks.memory import CheckMemory
from samuel.config import load as load_config
from samuel.files import atomic
from samuel.files.atomic import SCRATCH
from samuel.files.lock import held
from samuel.files.regular import read_regular
from samuel.git.kept_refs import PREFIX, KeptRefs, part
from samuel.git.transport import PushRefused, TransferFailed
from samuel.history.notices import LoopWarning, Report, Watch
from samuel.history.run import Run
from samuel.history.tree_state import TreeState
from samuel.journal import Journal
from samuel.machines.machine_needs import refuse_what_is_missing, require_room
from samuel.machines.machine_prune import MachinePrune
from samuel.process import environment
from samuel.process.live import registered
from samuel.process.tree import end_leftovers
from samuel.version import __version__
from samuel.workspaces.fleet.cancel import CancelSwitch
from samuel.workspaces.fleet.clone import FleetClone
from samuel.workspaces.fleet.outbox import Outbox
from samuel.workspaces.fleet.patience import patiently
from samuel.workspaces.fleet.records import record_message
from samuel.workspaces.fleet.refusal import MachineRefused
from samuel.workspaces.fleet.report_lines import report_line
from samuel.workspaces.fleet.wire import (
    PROTOCOL,
    CancelledLine,
    InventoryLine,
    Line,
    MachineRequest,
    PruneRequest,
    ReadyLine,
    RefusalLine,
    RequestHead,
    ResultLine,
    StoppedLine,
    TaskRequest,
    remote_ref,
)
from samuel.workspaces.lanes.attempt import AttemptRequest, work
from samuel.workspaces.lanes.lane import Lane, LaneTools, private_directory
from samuel.workspaces.lanes.listing import fleet_directory, lanes_directory

MOST_LANES = 256
AFTER_CANCEL = 30.0  # seconds that paid work may take to reach the remote after it was cancelled
UNDER_WAY = "under-way.json"

Send = Callable[[Line], None]


class UnderWay(msgspec.Struct, frozen=True):
    """What a killed attempt left in its lane."""

    run_id: str
    task: str
    attempt: int
    tree: TreeState


def answer(line: bytes, send: Send, cancel: CancelSwitch) -> Line:
    """Do what a request asks for; the last line to send."""
    try:
        request = _decoded(line)
        cancel.heartbeat = max(request.heartbeat, 0.1)
        attempt = MachineAttempt(request, send, cancel)
        return attempt.answer()
    except MachineRefused as refused:
        return RefusalLine(refused.code, refused.message, refused.hint, refused.lasting)
    except RunStopped as stopped:
        return StoppedLine(stopped.outcome, stopped.why, stopped.exit_reason)
    except KeyboardInterrupt:
        return CancelledLine()
    except SamuelError as error:
        return RefusalLine("error", error.message, error.hint, lasting=False)


def _decoded(line: bytes) -> MachineRequest:
    try:
        head = decode_json(line, RequestHead)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise MachineRefused("protocol", f"standard input is not a request of a coordinator: {error}") from None
    if head.protocol != PROTOCOL:
        raise MachineRefused(
            "protocol",
            f"the coordinator has protocol {head.protocol} (samuel {head.version}), "
            f"and this machine has protocol {PROTOCOL} (samuel {__version__})",
            "install the same version of Samuel on both",
        )
    try:
        return decode_json(line, MachineRequest)
    except msgspec.MsgspecError as error:
        raise MachineRefused("protocol", f"the request cannot be read: {error}") from None


class MachineAttempt:
    def __init__(self, request: MachineRequest, send: Send, cancel: CancelSwitch) -> None:
        self._request = request
        self._send = send
        self._cancel = cancel
        self._user = User.from_environment()
        self._machine = request.machine or socket.gethostname()
        self._tree = TreeState()

    def answer(self) -> Line:
        request, user = self._request, self._user
        user.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        if request.prune is not None:  # before room is asked for: that may be what it is to make
            return self._prune(request.prune)
        require_room(user.state, request.room)
        clone = FleetClone(user, environment.clean(), request)
        clone.fetch()
        with clone.rules(), self._open(clone.root) as app:
            refuse_what_is_missing(app, request)
            if request.work is None:
                return ReadyLine(self._machine, __version__, str(clone.root))
            directory = fleet_directory(lanes_directory(user, clone.root, app.state))
            with self._free_lane(directory) as number, registered(user.live, request.work.run.run_id):
                return self._work(app, clone, directory, number, request.work)

    def _prune(self, request: PruneRequest) -> Line:
        if not FleetClone.is_there(self._user, self._request):
            return InventoryLine(self._machine)
        clone = FleetClone(self._user, environment.clean(), self._request)
        return MachinePrune(self._user, clone, request).answer(self._machine)

    def _open(self, root: Path) -> App:
        request, config = self._request, load_config(root / "samuel.toml")
        settings = config.chosen(request.methodology)
        settings = msgspec.structs.replace(
            settings,
            commit=True,
            require_checks=request.require_checks,
            proof=request.proof or settings.proof,
            acceptance=request.acceptance,
        )
        config = msgspec.structs.replace(config, methodology={**config.methodology, request.methodology: settings})
        if request.accept_unguarded:
            config = accepting_unguarded(config)
        overrides = Overrides(config=config, methodology=request.methodology, environment=request.environment)
        return App(root, search=False, warn=self._warn, overrides=overrides, machine=Machine(user=self._user))

    @contextmanager
    def _free_lane(self, directory: Path) -> Iterator[int]:
        """The number of a free lane. What a killed attempt left running there is ended."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for number in range(1, MOST_LANES + 1):
            with ExitStack() as lock:
                try:
                    lock.enter_context(held(directory / f"{number}.lock", note="samuel attempt"))
                except Locked:
                    continue
                yield number  # outside of the try: another lock that the attempt waits for is not this one
                return
        raise MachineRefused("error", f"{MOST_LANES} attempts are at work on this machine", lasting=False)

    def _work(self, app: App, clone: FleetClone, directory: Path, number: int, work_request: TaskRequest) -> Line:
        # The receipt names the hooks that are in force here, and not at the coordinator.
        run, task = msgspec.structs.replace(work_request.run, pinned=pinned_facts(app)), work_request.task
        private = private_directory(directory / str(number))
        outbox = Outbox(private / "outbox", work_request.texts)
        project = dataclasses.replace(app.workplace, state=outbox.directory)
        lane = Lane(number, project, directory, Protected(app.paths.root), outbox.journal)
        end_leftovers("SAMUEL_PROJECT_ROOT", str(lane.root))
        lane.make(self._request.base)
        journal = Journal(outbox.directory, outbox.journal, app.clock, self._warn)
        lane.open(self._opener(app, journal, timings=work_request.timings), self._watch)
        mark = private / UNDER_WAY
        _keep_what_is_left(lane, mark)

        def save(run: Run) -> Run:
            self._tree = run.tree
            if run.tree.task:
                left = UnderWay(run.run_id, task.id, work_request.attempt, run.tree)
                atomic.write_bytes(mark, msgspec.json.encode(left), 0o600, durable=False)
            else:
                mark.unlink(missing_ok=True)
            return run

        try:
            last = {task.id: work_request.last} if work_request.last else {}
            request = AttemptRequest(
                run=run,
                task=task,
                tasks=work_request.tasks,
                base=self._request.base,
                base_tree=lane.trees.refs.tree_of(self._request.base),
                last_attempts=last,
                checks=CheckMemory.of(work_request.checks),
                acceptance=work_request.acceptance,
                fresh=work_request.fresh,
            )
            try:
                result, checks = work(lane, request, Stop(), save)
                self._cancel.is_shielded = True
                line = ResultLine(
                    run_id=run.run_id,
                    task=task.id,
                    attempt=work_request.attempt,
                    iteration=run.iteration,
                    machine=self._machine,
                    result=result,
                    checks=checks,
                    last=None if result.work else self._tree.attempts.get(task.id),
                )
                self._push(clone, KeptRefs(lane.place.git), line)  # first: a coordinator may be slow to read
            finally:
                journal.close()
                outbox.send(project.progress.name, self._send)
            mark.unlink(missing_ok=True)
            return line
        finally:
            lane.close()

    def _opener(self, app: App, journal: Journal, *, timings: bool) -> Callable[[int, Path, Watch], LaneTools]:
        def open_lane(number: int, root: Path, watch: Watch) -> LaneTools:
            opened = App(
                root,
                search=False,
                warn=self._warn,
                watch=watch,
                overrides=Overrides(config=app.config, methodology=app.methodology, environment=app.environment),
                machine=Machine(user=app.user, clock=SystemClock(), disk=SCRATCH),
                lane=AppLane(number=number, journal=journal, machine=self._machine),
            )
            return LaneTools(opened.workplace, steps_of(opened, Stop(), timings=timings), opened.close)

        return open_lane

    def _push(self, clone: FleetClone, refs: KeptRefs, line: ResultLine) -> None:
        """Hand over the work, or what a failed attempt left, together with the record. Raises MachineRefused."""
        prefix, name = f"{PREFIX}/{part(line.run_id)}", part(line.task)
        result, pushed = line.result, {}
        if result.work:
            pushed[remote_ref(prefix, "work", name, line.attempt, line.iteration)] = result.work
        elif line.last is not None and line.last.ref and (left_over := refs.find(line.last.ref)):
            pushed[remote_ref(prefix, "kept", name, line.attempt, line.iteration)] = left_over.commit
        parent = result.work or self._request.base
        record = refs.commit(refs.tree_of(parent), parent, record_message(line))
        pushed[remote_ref(prefix, "record", name, line.attempt, line.iteration)] = record
        try:
            patiently(lambda: clone.remote.create(pushed), self._patience)
        except TransferFailed as error:
            raise MachineRefused("remote", error.message, error.hint, lasting=False) from None
        except PushRefused as error:
            raise MachineRefused("remote", error.message, error.hint) from None

    def _patience(self) -> float:
        return min(self._request.patience, AFTER_CANCEL) if self._cancel.is_cancelled else self._request.patience

    def _watch(self, report: Report) -> None:
        if line := report_line(report):
            self._send(line)

    def _warn(self, text: str) -> None:
        self._watch(LoopWarning(text))


def _keep_what_is_left(lane: Lane, mark: Path) -> None:
    """Keep what a killed attempt changed in this lane in a ref of the clone."""
    with suppress(OSError, msgspec.MsgspecError, SamuelError):
        left = decode_json(read_regular(mark), UnderWay)
        attempts = lane.attempts(left.run_id, left.tree)
        attempts.resume()
        attempts.keep(left.task, left.attempt)
        mark.unlink(missing_ok=True)
