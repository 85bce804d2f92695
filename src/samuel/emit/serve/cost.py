"""What a call of `samuel emit` costs in a project on this machine, beside starting any program at all.

All kinds of calls take turns, so that whatever else the machine does hits them alike. What each handler takes is
read from the journal: the calls are real ones. Their payload says `"dry_run": true`, and has the mark of the
measurement in its field `bench`.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from samuel.base.errors import SamuelError, UsageError
from samuel.base.paths import Project
from samuel.clients.hook_formats.yaml_context import event_from_context
from samuel.dispatch.record import percentile
from samuel.emit.host import payload_extra
from samuel.emit.serve import wire
from samuel.emit.serve.client_program import HOW_TO_GET_NATIVE, ClientProgram, client_program
from samuel.emit.serve.control import ask
from samuel.emit.serve.socket_name import socket_path
from samuel.emit.serve.start import is_served, sockets, start_for, why_not
from samuel.events import EventType, event_type
from samuel.events.names import SESSION
from samuel.events.schema import sample
from samuel.journal import CallRecord, EventRecord, newest_first
from samuel.process.emit_client import NATIVE_CLIENT, SWITCH, installation_of

if TYPE_CHECKING:
    from samuel.app import App

MARK = "bench"
"""The field of a payload that says which measurement it belongs to."""

WARM_UP_ROUNDS = 2
TRUE, PYTHON, COLD, WARM, NATIVE = "true", "python", "cold", "warm", "native"


class EmitCost(msgspec.Struct):
    """What one kind of call takes."""

    kind: str
    command: str
    p50_ms: float
    p95_ms: float
    times_true: float
    """How many times as long as starting `true`."""
    times_python: float
    """How many times as long as starting the Python interpreter."""


class HandlerCost(msgspec.Struct):
    """What the calls of one handler took, of all that a call of `samuel emit` takes. None: it was not called."""

    handler: str
    runtime: str
    outcome: str
    """How its latest call ended."""
    cold_p50_ms: float | None
    warm_p50_ms: float | None


class CostReport(msgspec.Struct):
    """What was measured, and why the rest was not."""

    event: str
    rounds: int
    denied: bool
    """Whether the hooks denied the event."""
    calls: list[EmitCost]
    handlers: list[HandlerCost]
    notes: list[str]


class EmitPlan(NamedTuple):
    """What will be run."""

    root: Path
    event: EventType
    fields: Mapping[str, Any]
    handlers: list[str]
    commands: Mapping[str, list[str]]
    installation: str
    notes: list[str]


def plan(app: App, name: str, fields: Mapping[str, Any]) -> EmitPlan:
    """What will be run for an event. Starts nothing; UsageError for an event that agents do not fire."""
    event = event_type(name)
    if event.name not in SESSION:
        raise UsageError(f"`{event.name}` is not an event of agents", f"they have {', '.join(SESSION)}")
    fields = {**sample(event), **fields, "dry_run": True}
    event_from_context(event, fields)  # a wrong field is refused before anything runs
    installation = installation_of(sys.argv[0], sys.executable)
    samuel = _samuel(installation)
    commands = {
        TRUE: [which("true") or "/bin/true"],
        PYTHON: [sys.executable, "-c", "pass"],
        COLD: [*samuel, "emit", event.name],
    }
    notes = []
    program = client_program(installation)
    if reason := why_not(app):
        notes.append(f"only without a server, because none is started here: {reason}")
    else:
        commands[WARM] = [*samuel, "emit", event.name]
        if program is ClientProgram.NATIVE:
            commands[NATIVE] = [os.path.join(installation, NATIVE_CLIENT), event.name]
        else:
            notes.append(f"`{NATIVE_CLIENT}` is not a native program here; {HOW_TO_GET_NATIVE}")
    handlers = [
        f"`{step.handler.name}` ({'refused' if app.permit(step.handler) else step.handler.runtime})"
        for step in app.chains[event.name].steps
    ]
    return EmitPlan(app.paths.root, event, fields, handlers, commands, installation, notes)


def measure(app: App, emits: EmitPlan, rounds: int, progress: Callable[[str], None]) -> CostReport:
    """Run what was planned, `rounds` times each. The project is closed by now."""
    commands, notes = dict(emits.commands), list(emits.notes)
    path = ""
    if WARM in commands:
        progress("starting the server")
        path, reason = _served(app, emits)
        if reason:
            notes.append(reason)
            commands = {kind: words for kind, words in commands.items() if kind not in (WARM, NATIVE)}
    mark = f"{os.getpid()}-{time.time_ns()}"
    with tempfile.TemporaryDirectory() as directory:
        calls = _Calls(emits, commands, Path(directory))
        progress("warming up")
        calls.take_turns(WARM_UP_ROUNDS, "")
        before = ask(path, wire.STATUS) if WARM in commands else None
        progress("measuring")
        durations = calls.take_turns(rounds, mark)
    if before is not None:
        after = ask(path, wire.STATUS)
        if left := after.left_to_others - before.left_to_others:
            notes.append(f"the server left {left} calls to processes of their own: {after.last_reason}")
        notes.append(f"the server {after.pid} stays until it is idle; `samuel serve stop` ends it")
    return CostReport(
        event=emits.event.name,
        rounds=rounds,
        denied=calls.denied,
        calls=list(_costs(commands, durations)),
        handlers=list(_handler_costs(emits.root, mark)),
        notes=notes,
    )


def _samuel(installation: str) -> list[str]:
    program = os.path.join(installation, "samuel")
    return [program] if os.access(program, os.X_OK) else [sys.executable, "-P", "-m", "samuel"]


def _served(app: App, emits: EmitPlan) -> tuple[str, str]:
    """The socket of a server that listens; or "", and why there is none."""
    start_for(app)
    path = socket_path(str(emits.root), emits.installation, os.environb)
    if not path:
        return "", "only without a server: no directory for sockets belongs to you alone; see `samuel doctor`"
    sockets(emits.root, emits.installation, with_starting=True)
    if not is_served(path):
        return "", "only without a server: it did not start; `samuel serve` says why"
    return path, ""


class _Calls:
    """Runs the commands, each with its payload on stdin."""

    def __init__(self, emits: EmitPlan, commands: Mapping[str, list[str]], directory: Path) -> None:
        self.denied = False
        self._root, self._fields, self._commands = emits.root, emits.fields, commands
        self._directory = directory
        self._output = directory / "output"
        self._variables = dict(os.environ)

    def take_turns(self, rounds: int, mark: str) -> dict[str, list[float]]:
        """The milliseconds of each call, by kind."""
        for kind in self._commands:
            fields = {**self._fields, MARK: f"{mark} {kind}" if mark else ""}
            (self._directory / kind).write_bytes(msgspec.json.encode(fields))
        durations: dict[str, list[float]] = {kind: [] for kind in self._commands}
        for _ in range(rounds):
            for kind in self._commands:
                durations[kind].append(self._milliseconds(kind))
        return durations

    def _milliseconds(self, kind: str) -> float:
        words = self._commands[kind]
        variables = {**self._variables, SWITCH: "off"} if kind == COLD else self._variables
        actions = (
            (os.POSIX_SPAWN_OPEN, 0, str(self._directory / kind), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, str(self._output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        )
        started = time.perf_counter()
        # Less around it than `subprocess` has: what is measured may be a millisecond.
        pid = os.posix_spawn(words[0], words, variables, file_actions=actions, setsigdef=[signal.SIGPIPE])
        _, status = os.waitpid(pid, 0)
        duration = (time.perf_counter() - started) * 1000
        code = os.waitstatus_to_exitcode(status)
        if code == 2:
            self.denied = True
        elif code:
            last = self._output.read_text(errors="replace").strip().splitlines()[-1:] or [f"exit code {code}"]
            raise SamuelError(f"`{_command_line(words)}` failed: {last[0]}")
        return duration


def _command_line(words: Sequence[str]) -> str:
    return " ".join((os.path.basename(words[0]), *words[1:]))


def _costs(commands: Mapping[str, Sequence[str]], durations: Mapping[str, Sequence[float]]) -> Iterator[EmitCost]:
    bases = [percentile(durations[kind], 50) for kind in (TRUE, PYTHON)]
    for kind, words in commands.items():
        p50 = percentile(durations[kind], 50)
        command = f"{SWITCH}=off {_command_line(words)}" if kind == COLD else _command_line(words)
        numbers = (p50, percentile(durations[kind], 95), *(p50 / base for base in bases))
        yield EmitCost(kind, command, *(round(number, 3) for number in numbers))


def _handler_costs(root: Path, mark: str) -> Iterator[HandlerCost]:
    """What the handlers took in the events with this mark, in their order."""
    durations: dict[tuple[int, str, str], dict[bool, list[float]]] = {}
    outcomes: dict[tuple[int, str, str], str] = {}
    calls: dict[str, list[CallRecord]] = defaultdict(list)
    for record in newest_first(root, Project(root).journal):
        if isinstance(record, CallRecord):
            calls[record.event_id].append(record)
        elif isinstance(record, EventRecord):
            kind = _kind(record, mark)
            for call in calls.pop(record.event_id, ()) if kind else ():
                key = (call.position, call.handler, call.runtime)
                of_handler = durations.setdefault(key, {True: [], False: []})
                of_handler[kind == COLD].append(call.duration_ms)
                outcomes.setdefault(key, call.outcome)
    for key, of_handler in sorted(durations.items()):
        _, handler, runtime = key
        medians = map(_median, (of_handler[True], of_handler[False]))
        yield HandlerCost(handler, runtime, outcomes[key], *medians)


def _kind(record: EventRecord, mark: str) -> str:
    """Which kind of call an event is from; "" if it is not from this measurement."""
    value = payload_extra(record).get(MARK)
    of_mark, _, kind = value.partition(" ") if isinstance(value, str) else ("", "", "")
    return kind if of_mark == mark else ""


def _median(durations: Sequence[float]) -> float | None:
    return round(percentile(durations, 50), 3) if durations else None
