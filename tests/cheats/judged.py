"""A project with an attempt under way, judged as a run judges it, without a run around it.

Git, the clean room, the check commands, their reports and the judgement are the real ones. An attempt here is what
a row of the tables writes into the work tree; then the task is claimed, and claimed again as often as it goes back.

A check that has run on a tree is not run on the same tree again, in the same corner: most rows of a table share the
verified tree, and the broken source with its old tests. Rows whose checks act on anything else turn this off.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from samuel.attempt.attempt_checks import run_sealed
from samuel.attempt.defaults.quality_check import RunCommands
from samuel.attempt.workplace import Workplace
from samuel.base.clock import SystemClock
from samuel.checks.acceptance_rules import judge_written
from samuel.checks.attempt_judge import AttemptVerdict, Claim
from samuel.checks.changed_tests import ChangedTests
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.files import ProtectedFiles
from samuel.checks.judgement import Judgement
from samuel.checks.memory import CheckMemory
from samuel.checks.put_back import PutBack
from samuel.checks.sealed_judge import SealedJudge
from samuel.checks.verdict import check_runs
from samuel.config.model import Methodology
from samuel.dispatch.record import Fired
from samuel.events import QualityCheck
from samuel.events.loop import CheckRun
from samuel.evidence.claim import UNPROVEN, Proof
from samuel.evidence.corner import Corner
from samuel.evidence.room import CleanRoom
from samuel.evidence.sealed import sealed_checks
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.history.acceptance_tests import AcceptanceTests, LockedFile
from samuel.history.attempts import Attempts
from samuel.process import environment
from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

STOPPED = "refused or disputed"
"""The task is not completed: the attempt is refused, or a person has to decide."""
MOST_CLAIMS = 4
MINUTES = 5 * 60 * 1000

Memo = dict[tuple[str, str, str, Corner], CheckRun]
"""The runs of all rows, by tree, command, command line and corner."""


class Judged(NamedTuple):
    """What came of claiming a task again and again."""

    word: str
    """A grade, or `refused`, `disputed` or `unproven`."""
    why: str
    verdict: AttemptVerdict

    def is_among(self, words: str) -> bool:
        """Whether it ended in one of these ways; where a task may not be completed, `unproven` is one of them."""
        return self.word in words.split(" or ") or (self.word == "unproven" and words == STOPPED)

    def __str__(self) -> str:
        can_fail = self.verdict.evidence.shown_to_fail if self.verdict.evidence else ""
        return f"{self.word} ({self.why}) shown to fail: {can_fail}"


class JudgedProject:
    """One repository, its clean room and its checks, and the tasks that are claimed in it one after the other."""

    def __init__(
        self, root: Path, own: Path, commands: Sequence[str], memo: Memo | None, sealed: str = ""
    ) -> None:
        """`sealed` is the shell command of a sealed check, if there is one."""
        self.root = root
        self._sealed = sealed_checks([str(_program(own / "sealed", sealed))], root, "") if sealed else ()
        self._locked: AcceptanceTests | None = None
        self._memo = memo
        self._commands = tuple(commands)
        variables = environment.clean()
        self._place = Workplace(
            root=root,
            state=own / "state",
            templates=own / "templates",
            cache=own / "cache",
            settings=Methodology(name="ralph", quality_checks=self._commands),
            agents={},
            environment=variables,
            host=os.environ,
            clock=SystemClock(),
            git=Git(root, variables),
            tasks=TaskStore(own / "state"),
        )
        (own / "state").mkdir(parents=True)
        self._handler = RunCommands(self._place)
        self._trees = Trees(self._place.git, own / "trees")
        self._room = _KnownTree(CleanRoom(self._trees, own / "clean", self._place.check_directory))
        self._memory = CheckMemory(None, "run-1")
        self._attempts = Attempts(self._trees, "run-1")
        self._attempts.begin()
        self._task: Task | None = None

    def begin(self) -> None:
        """Run the checks once before the first attempt, as a run does; they must pass."""
        verified = self._attempts.state.verified
        self._room.room.prepare(verified, self._trees.ignored())
        with self._room.showing(verified):
            runs = check_runs(self.all().result)
        failed = [run.output_tail for run in runs if not run.passed]
        assert not failed, failed
        self._room.room.keep_built()
        self._memory.set_baseline(runs, self._trees.ignored())

    def claim(self, task: Task, act: Callable[[Path], None], proof: Proof, kind: str = "fix") -> Judged:
        """Do what the row does, and claim the task; again each time that it goes back for another reason."""
        sent_back: tuple[str, ...] = ()
        self._task = task
        for _ in range(MOST_CLAIMS):
            self._attempts.start(task.id)
            act(self.root)
            verdict = self._judge(task, Claim(proof, kind, sent_back))
            if verdict.disputed:
                return Judged("disputed", verdict.checks.why, verdict)
            if verdict.checks.passed and not verdict.unproven:
                assert verdict.evidence is not None
                self._complete(task, verdict)
                return Judged(verdict.evidence.grade, verdict.evidence.rests_on, verdict)
            reasons = verdict.contested or ((UNPROVEN,) if verdict.unproven else ())
            if not {*reasons} - {*sent_back}:
                word = "unproven" if verdict.unproven else "refused"
                self._attempts.put_away(task.id, 1)
                return Judged(word, verdict.unproven or verdict.checks.why, verdict)
            sent_back = (*sent_back, *reasons)
        raise AssertionError("the claim goes back for ever")

    def _complete(self, task: Task, verdict: AttemptVerdict) -> None:
        self._attempts.observe()
        self._attempts.complete(task.id)
        self._memory.set_verified(verdict.own_runs)

    def _judge(self, task: Task, claim: Claim) -> AttemptVerdict:
        changes = self._attempts.observe()
        commands = [*self._commands, *task.checks]
        judgement = Judgement(self._trees, self._memory, commands, ProtectedFiles(), self._corners())
        return judgement.judge(task, changes, self._attempts.state.verified, claim, self._locked)

    def _corners(self) -> CornerRuns:
        put_back = PutBack(self._trees, self._attempts, lambda: None)
        sealed = SealedJudge(self._sealed, partial(run_sealed, self._place, {"SAMUEL_TASK_ID": "1"}), "yes")
        return CornerRuns(put_back, self._room, self._memory, self, sealed=sealed)

    def lock(self, files: Mapping[str, str]) -> None:
        """Let these files be the acceptance tests of the task, if the rules for them allow it; they must."""
        contents = {path: text.encode() for path, text in files.items()}
        verified = self._attempts.state.verified
        tests = ChangedTests(self._trees, verified, self._trees.with_contents(verified, contents), self._commands)
        written_tests = judge_written(tests, self._corners())
        assert not written_tests.why, written_tests.why
        locked = tuple(
            LockedFile(path=path, content=text, visible=text) for path, text in written_tests.files.items()
        )
        self._locked = AcceptanceTests(
            text="",
            author="another",
            files=locked,
            names=written_tests.names,
            verified=verified,
            red=written_tests.red,
        )

    # The checks, which the judgement runs

    def all(self) -> Fired:
        runs = [self.command(command, "own") for command in self._all_commands]
        failures = [
            {"source": "default", "command": run.command, "message": "failed"} for run in runs if not run.passed
        ]
        event = QualityCheck(commands=self._all_commands)
        result = {
            "checks": [dict(msgspec.to_builtins(run)) for run in runs],
            "failures": failures,
            "ok": not failures,
        }
        return Fired(event=event, ok=not failures, stopped=False, result=result)

    @property
    def _all_commands(self) -> list[str]:
        return [*self._commands, *(self._task.checks if self._task else ())]

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun:
        key = (self._room.tree, command, line, corner)
        if self._memo is None or key not in self._memo:
            event = QualityCheck(
                commands=[line or command],
                project_root=str(self.root),
                deadline_ms=MINUTES,
                task=self._task.plain() if self._task else {},
            )
            run, _ = self._handler._run(line or command, 1, event, corner)
            run = replace(run, command=command)
            if self._memo is None:
                return run
            self._memo[key] = run
        return self._memo[key]


class _KnownTree:
    """A clean room that knows which tree it shows."""

    is_clean = True

    def __init__(self, room: CleanRoom) -> None:
        self.room = room
        self.tree = ""

    @contextmanager
    def showing(self, tree: str) -> Iterator[None]:
        self.tree = tree
        with self.room.showing(tree):
            yield

    def changed(self) -> dict[str, bytes | None]:
        return self.room.changed()


def _program(directory: Path, command: str) -> Path:
    """An executable outside of the repository that runs this command."""
    directory.mkdir(parents=True)
    program = directory / "run"
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
    return program


def copied(original: Path, target: Path) -> Path:
    return Path(shutil.copytree(original, target, symlinks=True))
