"""What a coordinator and a machine tell each other: one request, then lines, the last of which is the answer.

All of it is JSON, one object in a line. The request goes to the standard input of `samuel attempt`, which stays
open while the attempt is wanted: its end cancels the attempt. No value of an environment variable is ever in here,
and no password.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.checks.memory import RememberedChecks
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.events.loop import CheckRun
from samuel.history.acceptance_tests import AcceptanceTests
from samuel.history.run import AttemptResult, Run
from samuel.history.tree_state import KeptAttempt
from samuel.tasks.task import Task

PROTOCOL = 4
"""Changes with every change of what is in this file. Both sides must have the same."""

COMMAND = "attempt"


class RequestHead(msgspec.Struct, frozen=True, kw_only=True):
    """What can be read of a request of any protocol."""

    protocol: int
    version: str = ""


class TaskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The attempt itself, as a lane would get it."""

    run: Run
    task: Task
    tasks: tuple[Task, ...]
    attempt: int
    checks: RememberedChecks
    fresh: bool
    last: KeptAttempt | None = None
    """What the last attempt at the task left."""
    acceptance: AcceptanceTests | None = None
    """What came of asking for acceptance tests of the task; None before."""
    texts: dict[str, str] = {}
    """What was learned so far, by the name of its file in the state directory."""
    timings: bool = False


class PruneRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to remove of what earlier attempts left on the machine. Nothing else is removed."""

    runs: tuple[str, ...]
    """The runs of the coordinator that are over."""
    refs: dict[str, str] = {}
    """The commits by ref: one that has another commit by now stays."""
    lanes: dict[str, str] = {}
    """The trees by path: one that has other files by now stays."""


class MachineRequest(msgspec.Struct, frozen=True, kw_only=True):
    protocol: int
    version: str
    place: str
    """What the coordinator calls the place."""
    machine: str
    """What people call the machine; "" for its own name."""
    directory: str = ""
    """The clone to use; "" for one that Samuel keeps on the machine."""
    remote: str
    url: str
    prefix: str = ""
    """Where the project is below the top of the repository."""
    base: str
    """The commit to begin with."""
    needed: dict[str, str] = {}
    """The commits that the attempt needs, by the ref of the remote that has them."""
    methodology: str
    environment: str = ""
    agent: str
    agent_variables: tuple[str, ...] = ()
    """The names of the variables that the coordinator would hand to this agent."""
    rules: dict[str, str] = {}
    """The files by which agents are judged, with their digests."""
    task_checks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The checks that tasks bring along, by the id of the task, in the order of the task file."""
    acceptance: str = "none"
    """Who writes acceptance tests; an option of the run may say something else than the project."""
    require_checks: bool = False
    proof: str = ""
    """`proof` of the coordinator, which an option may have changed; "" for that of samuel.toml."""
    accept_unguarded: bool = False
    patience: float = 300.0
    heartbeat: float = 5.0
    room: int = 0
    """How many bytes must be free on the disk."""
    work: TaskRequest | None = None
    """None: only check whether the machine could work."""
    prune: PruneRequest | None = None
    """Instead of all else: list what earlier attempts left, after removing what is named."""


class HeartbeatLine(msgspec.Struct, frozen=True, tag_field="line", tag="heartbeat"):
    """The attempt goes on, however silent its agent is."""


class ReportLine(msgspec.Struct, frozen=True, tag_field="line", tag="report"):
    """What happens: a report of the loop, by its class."""

    kind: str
    report: dict[str, Any]


class FileLine(msgspec.Struct, frozen=True, tag_field="line", tag="file"):
    """A piece of a file that the attempt left in its state directory."""

    name: str
    content: bytes


class ReadyLine(msgspec.Struct, frozen=True, tag_field="line", tag="ready"):
    """The answer to a check: the machine can work."""

    machine: str
    version: str
    directory: str


class LeftRef(msgspec.Struct, frozen=True):
    """A ref of Samuel's in the clone of a machine."""

    name: str
    commit: str
    tree: str


class LeftLane(msgspec.Struct, frozen=True):
    """A free lane on a machine."""

    path: str
    tree: str


class InventoryLine(msgspec.Struct, frozen=True, tag_field="line", tag="inventory"):
    """The answer to a request to prune: what was removed, and what is left of earlier attempts."""

    machine: str
    removed: tuple[str, ...] = ()
    """The refs, and the paths of lanes."""
    refs: tuple[LeftRef, ...] = ()
    lanes: tuple[LeftLane, ...] = ()


class RefusalLine(msgspec.Struct, frozen=True, tag_field="line", tag="refused"):
    """The answer of a machine that cannot do this attempt; nothing was begun, or nothing can be handed over."""

    code: str
    why: str
    hint: str = ""
    lasting: bool = True
    """False: it may work later, for example when the remote can be reached again."""


class StoppedLine(msgspec.Struct, frozen=True, tag_field="line", tag="stopped"):
    """The answer of an attempt after which the whole run cannot go on."""

    outcome: IterationOutcome
    why: str
    exit_reason: ExitReason


class CancelledLine(msgspec.Struct, frozen=True, tag_field="line", tag="cancelled"):
    """The answer of an attempt that was cancelled."""


class ResultLine(msgspec.Struct, frozen=True, tag_field="line", tag="result"):
    """The record of an attempt that came to a result. The remote has it too, beside the work."""

    run_id: str
    task: str
    attempt: int
    iteration: int
    machine: str
    result: AttemptResult
    checks: tuple[CheckRun, ...] | None = None
    last: KeptAttempt | None = None
    """What a failed attempt left; a ref of the remote holds it."""


Line = (
    HeartbeatLine
    | ReportLine
    | FileLine
    | ReadyLine
    | InventoryLine
    | RefusalLine
    | StoppedLine
    | CancelledLine
    | ResultLine
)


def line_of(line: Line | MachineRequest) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def read_line(data: bytes) -> Line:
    """Raises SamuelError for what is not such a line."""
    try:
        line: Line = decode_json(data, Line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        beginning = data[:80].decode("utf-8", "replace")
        raise SamuelError(f"`{beginning}` is not a line of `samuel {COMMAND}`: {error}") from None
    return line


RefKind = Literal["work", "record", "kept"]


def remote_ref(prefix: str, kind: RefKind, task_part: str, attempt: int, iteration: int) -> str:
    """A ref of the remote that belongs to one attempt alone: iteration numbers are given out once in a run."""
    return f"{prefix}/{kind}/{task_part}/{attempt}-{iteration}"
