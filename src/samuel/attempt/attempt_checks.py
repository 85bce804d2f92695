"""The checks of one attempt: each run is watched like an agent, since it executes what the agent wrote.

Of the output of a sealed check an agent gets to see nothing. What such a check writes to the file that
`SAMUEL_MESSAGE_FILE` names is its message for the agent; the output is in the user's state, for a person to read.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from samuel.attempt.defaults.quality_check import RunCommands
from samuel.attempt.run_files import RunFiles
from samuel.attempt.workplace import SEALED_OUTPUT, Workplace
from samuel.base.errors import SamuelError
from samuel.base.paths import Project
from samuel.base.printable import safe, shorten
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.put_back import PutBack
from samuel.checks.sealed_judge import SealedJudge, SealedRun, sealed_word
from samuel.confine import sandbox as sandboxes
from samuel.dispatch.record import Fired
from samuel.events import QualityCheck
from samuel.events.loop import CheckRun
from samuel.evidence.check_directory import CheckRoom
from samuel.evidence.corner import Corner
from samuel.evidence.sealed import SealedCheck, SealedCheckMissing
from samuel.evidence.work_tree_room import WorkTreeRoom
from samuel.files.inside import make_dirs_inside, read_inside
from samuel.history.attempts import AttemptChanges
from samuel.history.notices import CheckEnded, CheckStarted
from samuel.history.run import Run
from samuel.hooks.handler import Origin
from samuel.process import spawn
from samuel.trust import commands

MESSAGE = "sealed-message"
MAX_MESSAGE = 500  # characters that an agent gets to see
OUTPUT = 64 * 1024  # bytes of the output that are kept


class AttemptChecks:
    """Runs checks on the tree that is shown; `fire` fires `quality.check`, and `window` watches what runs."""

    def __init__(
        self,
        place: Workplace,
        fire: Callable[[], Fired],
        window: Callable[[], AbstractContextManager[None]],
        names: Callable[[], Mapping[str, str]],
    ) -> None:
        """`names` gives the variables from which a sealed check knows its task."""
        self._place = place
        self._names = names
        self._fire = fire
        self._window = window
        self.others_ran = False
        """Whether handlers other than the built-in one took part."""
        self._before: dict[str, CheckRun] = {}  # on the verified tree, until they are asked for
        self._green_before: tuple[str, ...] = ()

    def all(self) -> Fired:
        self._place.built_in_checks.forget()
        with self._window():
            fired = self._fire()
        self.others_ran = any(
            call.handler.origin is not Origin.BUILT_IN and call.would is None for call in fired.calls
        )
        return fired

    def before_work(self, event: QualityCheck) -> tuple[str, ...]:
        """Run the checks of a task on the verified tree, which is shown; gives those that pass already.

        The judgement of the attempt needs the same runs, and does not repeat them.
        """
        if not self._place.built_in_checks.in_force:
            return ()
        with self._window():
            runs = RunCommands(self._place).before_work(event)
        self._before = {run.command: run for run in runs}
        self._green_before = tuple(run.command for run in runs if run.passed)
        return self._green_before

    def corners(self, files: RunFiles, changes: AttemptChanges, save: Callable[[], None]) -> CornerRuns:
        """Runs these checks on the trees of an attempt; `save` writes the state of its work tree to disk."""
        settings = self._place.settings
        put_back = PutBack(files.trees, files.attempts, save) if files.trees else None
        room: CheckRoom | None = files.room
        if room is None and files.trees is not None and changes.tree:
            room = WorkTreeRoom(files.trees, files.attempts, changes.tree, save)
        room = room if changes.tree else None
        word = sealed_word(settings.sandbox.kind, is_clean=room is not None and room.is_clean)
        runs = CornerRuns(
            put_back,
            room,
            files.checks,
            self,
            self._place.watch,
            sealed=SealedJudge(self._place.sealed_checks, self.sealed, word, self._place.warn),
            canary=settings.canary,
        )
        runs.green_before = self._green_before
        return runs

    def sealed(self, check: SealedCheck, corner: Corner) -> SealedRun:
        with self._window():
            return run_sealed(self._place, self._names(), check, corner)

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun | None:
        if corner == "before" and (run := self._before.pop(command, None)):
            return run
        with self._window():
            return self._place.built_in_checks(command, corner, line)


def run_sealed(place: Workplace, names: Mapping[str, str], check: SealedCheck, corner: Corner) -> SealedRun:
    """Run the check; `names` are its own variables. Raises SealedCheckMissing if it cannot run."""
    if why := place.refusal(commands.sealed(place.settings)):
        raise SealedCheckMissing(why)
    if not check.can_run:
        raise SealedCheckMissing(
            f"the sealed check `{check.name}` is gone, or not executable any more", "put it back and start again"
        )
    directory = place.check_directory.path or place.root
    state = Project(directory).run
    os.close(make_dirs_inside(directory, *state.relative_to(directory).parts, mode=0o755))
    message = state / MESSAGE
    message.unlink(missing_ok=True)
    env = {**place.environment, **place.check_directory.variables, **names, "SAMUEL_MESSAGE_FILE": str(message)}
    env.pop("PYTHONPYCACHEPREFIX", None)  # there are compiled files of others
    around = place.check_confinement
    around = dataclasses.replace(
        around,
        root=directory,
        state=state,
        private=tuple(private for private in around.private if private.path != check.directory),
        readable=(*around.readable, check.directory),
    )
    place.watch(CheckStarted(check.name))
    began = place.clock.monotonic()
    output = bytearray()

    def keep_tail(chunk: bytes) -> None:
        output.extend(chunk)
        del output[:-OUTPUT]

    with sandboxes.confined(check.argv, place.settings.sandbox, around, env) as confined:
        finished = spawn.run(
            confined.argv,
            cwd=str(directory),
            env=confined.env,
            pass_fds=confined.pass_fds,
            timeout=place.check_seconds,
            output_limit=1 << 62,
            keep=OUTPUT,
            on_output=keep_tail,
        )
    seconds = round(place.clock.monotonic() - began, 3)
    passed = finished.ended == "exited" and finished.returncode == 0
    how = {
        "exited": "" if passed else f"ended with exit code {finished.returncode}",
        "timed_out": f"was killed after {place.check_seconds:g}s",
    }.get(finished.ended, "could not be started")
    message_text = _message(directory, state)
    with suppress(OSError):
        message.unlink(missing_ok=True)
    log = _log(place, check, corner, names, bytes(output), how or "passed")
    place.watch(CheckEnded(check.name, passed, seconds, "", False, corner))
    exit_code = finished.returncode if finished.ended == "exited" else None
    run = CheckRun(command=check.name, passed=passed, exit_code=exit_code, seconds=seconds)
    return SealedRun(run, how, message_text, log)


def check_names(run: Run, task_id: str, root: Path) -> dict[str, str]:
    """The variables from which a sealed check knows its task, and a `samuel` in it that it may change nothing."""
    return {
        "SAMUEL_TASK_ID": task_id,
        "SAMUEL_RUN_ID": run.run_id,
        "SAMUEL_STEP": "check",
        "SAMUEL_ITERATION": str(run.iteration),
        "SAMUEL_METHODOLOGY": run.methodology,
        "SAMUEL_PROJECT_ROOT": str(root),
    }


def _message(directory: Path, state: Path) -> str:
    """What the check lets the agent know; what it judged may have written there, too, so it is short."""
    parts = (*state.relative_to(directory).parts, MESSAGE)
    with suppress(OSError, SamuelError):
        text = read_inside(directory, *parts, limit=OUTPUT).decode("utf-8", "replace")
        return shorten(safe(" ".join(text.split())), MAX_MESSAGE)
    return ""


def _log(
    place: Workplace, check: SealedCheck, corner: Corner, names: Mapping[str, str], output: bytes, how: str
) -> str:
    """Write the output where a person finds it, and no sandboxed agent; gives the file, "" without one."""
    if place.record is None:
        return ""
    file = sealed_log(place.record, names.get("SAMUEL_RUN_ID", ""))
    head = f"$ {check.command}  (task {names.get('SAMUEL_TASK_ID', '')}, {corner}: {how})\n".encode()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "ab") as log:
            log.write(head + output + b"\n")
        return str(file)
    return ""


def sealed_log(record: Path, run_id: str) -> Path:
    """The file with the output of the sealed checks of a run."""
    return record / SEALED_OUTPUT / f"{run_id or 'run'}.log"
