"""What a run knows of itself, on disk: enough to go on after being killed at any instruction.

`run.json` changes in one atomic write at a time. What an iteration decides about its task is written here first,
as the thing that is about to be done, then into the task file, then struck here. A run that finds it undone does
it again: the same words give the same task file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.decoding import decode_json
from samuel.errors import ConfigError, Problem
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk

FILE = "run.json"


class Settlement(msgspec.Struct, frozen=True):
    """What an iteration came to: the outcome, and the fields of the task's row that change with it."""

    outcome: str
    failed: bool
    task_id: str = ""
    row: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    commit: list[str] | None = None  # the paths to commit, if the task is to have a commit
    new_tasks: int = 0  # for a discovery


class Run(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    methodology: str
    agent: str
    started_at: float
    max_iterations: int
    iteration: int = 0  # the one under way, or the last
    working: bool = False  # the iteration is not settled
    mode: str = "implementation"
    iterations_run: int = 0
    consec_fails: int = 0
    empty_discoveries: int = 0
    outcomes: dict[str, int] = {}
    usage: dict[str, Any] = {}
    plugins: dict[str, Any] = {}  # what before:loop's handlers contributed, for the whole run
    dirty: list[str] = []  # what was changed in the work tree before the run: never committed by it
    pinned: dict[str, Any] = {}  # configuration and chains as they were when it started
    settlement: Settlement | None = None  # decided, maybe not yet in the task file
    unannounced: Settlement | None = None  # in the task file, maybe not yet told to after:iteration
    exit_reason: str = ""
    exit_message: str = ""  # what a handler or a fault that ended the run had to say
    complaints: list[str] = []  # of strict handlers that could stop nothing any more: the exit code is 1

    @property
    def over(self) -> bool:
        return bool(self.exit_reason)

    @property
    def session_id(self) -> str:
        """Each agent process is a session."""
        return f"{self.run_id}-{self.iteration}"

    def begin(self, iteration: int) -> Run:
        return replace(self, iteration=iteration, working=True, mode="implementation")  # until its gate says more

    def complain(self, event: str, reason: str) -> Run:
        complaint = f"{event}: {reason}"
        return self if complaint in self.complaints else replace(self, complaints=[*self.complaints, complaint])

    def _empty(self, done: Settlement) -> int:
        """How many discoveries in a row found nothing. One that failed says nothing about that."""
        if self.mode != "discovery" or done.failed:
            return self.empty_discoveries
        return 0 if done.new_tasks else self.empty_discoveries + 1

    def settled(self) -> Run:
        """With the settlement in the task file: counted, once."""
        assert self.settlement is not None
        done = self.settlement
        return replace(
            self,
            working=False,
            settlement=None,
            unannounced=done,
            iterations_run=self.iterations_run + 1,
            consec_fails=self.consec_fails + 1 if done.failed else 0,
            empty_discoveries=self._empty(done),
            outcomes={**self.outcomes, done.outcome: self.outcomes.get(done.outcome, 0) + 1},
            usage=add_usage(self.usage, done.usage),
        )


class RunFile:
    def __init__(self, directory: Path, disk: Disk = DISK) -> None:
        self._file = directory / FILE
        self._disk = disk

    def load(self) -> Run | None:
        try:
            return decode_json(self._file.read_bytes(), Run)
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            hint = "move it away; the tasks are in prd.toon and stay as they are"
            raise ConfigError([Problem(f"cannot be read: {error}", str(self._file), 0, hint)]) from None

    def save(self, run: Run) -> Run:
        # Not flushed to the platters: a power cut may forget that an iteration was counted, never a task, and this
        # is written several times an iteration.
        atomic.write_bytes(self._file, msgspec.json.encode(run), durable=False, disk=self._disk)
        return run

    def forget(self) -> None:
        self._file.unlink(missing_ok=True)


def add_usage(total: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens and cost add up; anything else takes the last."""
    summed = dict(total)
    for key, value in more.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        summed[key] = summed.get(key, 0) + value if number else value
    return summed
