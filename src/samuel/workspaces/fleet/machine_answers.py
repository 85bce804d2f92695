"""What a machine prints, and what its last line means."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from samuel.attempt.stop import RunStopped
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.events.endings import ExitReason
from samuel.history.notices import Report
from samuel.places.cluster import ClusterMachine, machines_of
from samuel.places.place import Place, PlaceBroken, PlaceCommand, PlaceConnection, PlaceLost
from samuel.workspaces.fleet.outbox import Inbox
from samuel.workspaces.fleet.refusal import MachineRefused
from samuel.workspaces.fleet.report_lines import report_of
from samuel.workspaces.fleet.wire import (
    CancelledLine,
    FileLine,
    HeartbeatLine,
    Line,
    RefusalLine,
    ReportLine,
    StoppedLine,
    read_line,
)

CHECKS_AT_ONCE = 16
T = TypeVar("T")
L = TypeVar("L", bound=Line)
_ENDS_RUN = (ExitReason.GATE_STOP, ExitReason.STRICT_FAILURE)


def listen(name: str, connection: PlaceConnection, inbox: Inbox, watch: Callable[[Report], None]) -> Line:
    """The last line of a command at the place of this name; its reports are watched, its files collected.

    Raises PlaceLost, PlaceBroken, MachineRefused or RunStopped.
    """
    answer: Line | None = None
    try:
        for data in connection.lines():
            line = read_line(data)
            match line:
                case HeartbeatLine():
                    pass
                case ReportLine():
                    watch(report_of(line))
                case FileLine():
                    inbox.take(line)
                case _:
                    answer = line
    except (PlaceLost, PlaceBroken):
        if answer is None:
            raise
    except SamuelError as error:  # what it printed makes no sense
        raise PlaceBroken(f"`{name}`: {error.message}", error.hint) from None
    finally:
        connection.cancel()
        inbox.finish()
    match answer:
        case None:
            raise PlaceLost(f"`{name}` ended without a record of its attempt")
        case RefusalLine():
            raise MachineRefused(answer.code, answer.why, answer.hint, lasting=answer.lasting)
        case CancelledLine():
            raise PlaceLost(f"the attempt at `{name}` was cancelled there")
        case StoppedLine() if answer.exit_reason in _ENDS_RUN:
            raise RunStopped(answer.outcome, answer.why, answer.exit_reason)
        case StoppedLine():
            raise PlaceLost(f"the attempt at `{name}` could not go on: {answer.why}")
    return answer


def answers_of(place: Place, ask: Callable[[str], T]) -> list[tuple[str, T | SamuelError]]:
    """What each machine of a cluster answers, by id, or the one machine that the place is.

    `ask` is given the id of the machine. What it raises because of the place or the machine is the answer.
    """

    def answer(member: ClusterMachine) -> T | SamuelError:
        if member.problem:
            return PlaceBroken(member.problem)
        try:
            return ask(member.id)
        except (PlaceLost, PlaceBroken, MachineRefused) as error:
            return error

    members = machines_of(place) or [ClusterMachine("", "", place.slots)]
    with ThreadPoolExecutor(CHECKS_AT_ONCE) as threads:
        return list(zip((member.id for member in members), threads.map(answer, members), strict=True))


def ask_for(kind: type[L], place: Place, command: PlaceCommand, project: Workplace) -> L:
    """The answer to a command that is no attempt. Raises as `listen` does."""
    line = listen(place.name, place.start(command), Inbox(project), lambda report: None)
    if not isinstance(line, kind):
        raise PlaceBroken(f"`{place.name}` answered with a line `{type(line).__name__}`, not `{kind.__name__}`")
    return line
