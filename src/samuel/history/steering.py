"""What people ask of the runs of a state directory while they work: one small document in the run's record.

A sandboxed agent cannot write there. Commands change it under a lock; the coordinator reads it between attempts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Problem
from samuel.events.explain import explained
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk
from samuel.files.explained import reason
from samuel.files.lock import held
from samuel.files.regular import read_regular

FILE = "steering.json"
LOCK = "steering.lock"
LOCK_SECONDS = 30.0
MOST_DELIVERED = 100
"""The delivered texts that stay in the document, the newest; the history has all of them."""


class Guidance(msgspec.Struct, frozen=True, kw_only=True):
    """A text of a person for the next attempt, or for all attempts at a task."""

    id: Annotated[str, msgspec.Meta(pattern=r"^g[1-9][0-9]{0,14}$")]
    """`g1`, `g2`, ...: unique in the record of a state directory."""
    text: str
    who: str
    """The login name."""
    at: str
    task: str = ""
    """"" for the next attempt at any task."""
    restarts: tuple[str, ...] = ()
    """The tasks whose attempts were under way and end because of it; each of them gets it."""
    delivered: tuple[str, ...] = ()
    """The tasks whose attempts had it in their prompt, in the order of these attempts."""

    def is_for(self, task: str, held: Collection[str], unfinished: Collection[str]) -> bool:
        """Whether an attempt at `task` that begins now gets it.

        `held` are the ids that other attempts under way have; `unfinished` are the tasks that may be worked on.
        """
        if self.task:
            return self.task == task
        if task in self.restarts:
            return task not in self.delivered
        return self.is_open and self.id not in held and not set(self.restarts) & set(unfinished)

    def ends(self, task: str) -> bool:
        """Whether an attempt at `task` that is under way without it has to end."""
        return task in self.restarts and task not in self.delivered

    @property
    def is_open(self) -> bool:
        """Whether no attempt had it yet."""
        return not self.delivered


def with_delivered(guidance: Iterable[Guidance], ids: Collection[str], task: str) -> tuple[Guidance, ...]:
    """The guidance, of which an attempt at `task` had these ids in its prompt. Idempotent."""
    return tuple(
        replace(entry, delivered=(*entry.delivered, task))
        if entry.id in ids and task not in entry.delivered
        else entry
        for entry in guidance
    )


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """No attempt begins until a person says otherwise."""

    who: str
    at: str


class Rejection(msgspec.Struct, frozen=True, kw_only=True):
    """A completed task that a person sends back. It is saved before it is carried out."""

    task: str
    commit: str
    """Of the task; "" if it has none."""
    why: str
    who: str
    at: str

    @property
    def mark(self) -> str:
        """The line by which the commit that takes the work back is recognised."""
        return f"Samuel-Rejection: {self.task}/{self.at}"


class Steering(msgspec.Struct, frozen=True, kw_only=True):
    guidance: tuple[Guidance, ...] = ()
    """In the order in which it was said."""
    pause: Pause | None = None
    stop: str = ""
    """The id of the run that is to end when the attempts under way have ended."""
    agents: dict[str, str] = {}
    """By task, the agent that a person chose for it."""

    rejections: tuple[Rejection, ...] = ()
    """Those that are not carried out yet."""

    def say(self, text: str, *, who: str, at: str, task: str = "", restarts: Iterable[str] = ()) -> Steering:
        number = max((int(entry.id[1:]) for entry in self.guidance), default=0) + 1
        entry = Guidance(id=f"g{number}", text=text, who=who, at=at, task=task, restarts=tuple(restarts))
        return replace(self, guidance=(*self.guidance, entry))

    def deliver(self, entries: Iterable[Guidance], task: str) -> Steering:
        """Note that an attempt at `task` had these texts in its prompt."""
        guidance = with_delivered(self.guidance, {entry.id for entry in entries}, task)
        past = [entry.id for entry in guidance if not entry.task and entry.delivered]
        forgotten = set(past[:-MOST_DELIVERED])
        return replace(self, guidance=tuple(entry for entry in guidance if entry.id not in forgotten))

    def reject(self, rejection: Rejection) -> Steering:
        """With a rejection, whose reason all later attempts at the task read."""
        others = tuple(other for other in self.rejections if other.task != rejection.task)
        replaced = {(other.task, other.at) for other in self.rejections if other.task == rejection.task}
        guidance = tuple(entry for entry in self.guidance if (entry.task, entry.at) not in replaced)
        text = f"the work on this task was rejected: {rejection.why}"
        steering = replace(self, guidance=guidance, rejections=(*others, rejection))
        return steering.say(text, who=rejection.who, at=rejection.at, task=rejection.task)

    def strike(self, rejection: Rejection) -> Steering:
        """Without a rejection that was carried out."""
        return replace(self, rejections=tuple(other for other in self.rejections if other != rejection))


NOTHING_ASKED = Steering()


class SteeringFile:
    """The document in the directory of a run's record; without a directory nothing is ever asked."""

    def __init__(self, record: Path | None, disk: Disk = DISK) -> None:
        self._directory = record
        self._disk = disk

    def load(self) -> Steering:
        """Raises ConfigError if the document cannot be read."""
        if self._directory is None:
            return NOTHING_ASKED
        file = self._directory / FILE
        try:
            return decode_json(read_regular(file), Steering)
        except (FileNotFoundError, NotADirectoryError):  # the latter where there can be no record
            return NOTHING_ASKED
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            hint = "move it away; what was said to the run and its pause are lost with it"
            why = reason(error) if isinstance(error, OSError) else explained(error, Steering)
            raise ConfigError([Problem(f"cannot be read: {why}", str(file), 0, hint)]) from None

    def change(self, change: Callable[[Steering], Steering]) -> Steering:
        """Change the document; the new one. What changes nothing is not written."""
        if self._directory is None:
            return NOTHING_ASKED
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with held(self._directory / LOCK, wait=LOCK_SECONDS, note="samuel run"):
            before = self.load()
            after = change(before)
            if after != before:
                file = self._directory / FILE
                atomic.write_bytes(file, msgspec.json.encode(after), 0o600, disk=self._disk)
            return after

    def forget(self) -> None:
        if self._directory is not None:
            with suppress(FileNotFoundError):
                (self._directory / FILE).unlink()
