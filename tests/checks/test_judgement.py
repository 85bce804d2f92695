"""Judging attempts by real commands on real trees: with the files of the checks as they were, and with its own."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.checks.attempt_judge import AttemptVerdict, Claim
from samuel.checks.checked_work import checked
from samuel.checks.corner_runs import CornerRuns
from samuel.checks.files import ProtectedFiles
from samuel.checks.judgement import Judgement
from samuel.checks.memory import CheckMemory
from samuel.checks.put_back import PutBack
from samuel.dispatch.record import Fired
from samuel.events import QualityCheck
from samuel.events.loop import CheckRun
from samuel.evidence.check_directory import CheckDirectory
from samuel.evidence.corner import Corner
from samuel.evidence.room import CleanRoom
from samuel.evidence.work_tree_room import WorkTreeRoom
from samuel.files.atomic import Disk
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.git.work_file import LARGEST
from samuel.history.attempts import AttemptChanges, Attempts
from samuel.history.tree_state import TreeState
from samuel.tasks.task import Task

Plain = Callable[..., str]
COMMAND = "sh check.sh"
FILES = {"check.sh": "cat code.txt; grep -q right code.txt\n", "code.txt": "right\n", "locked/api.txt": "1\n"}
TASK = Task(id="1", title="One")


class FillingDisk(Disk):
    """A disk on which nothing can be written once `full` is set."""

    full = False

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, data)


class Judged:
    """A project with an attempt under way; `runs` has the content of check.sh at each run of the checks."""

    def __init__(self, root: Path, own: Path, place: str) -> None:
        self.root = root
        self.disk = FillingDisk()
        self.trees = Trees(Git(root, {"PATH": os.environ["PATH"]}), own, self.disk)
        self.memory = CheckMemory(own, "run-1")
        self.attempts = Attempts(self.trees, "run-1")
        self.attempts.begin()
        self.attempts.start("1")
        self.runs: list[str] = []
        self.before_check: Callable[[], None] = lambda: None
        self.directory = CheckDirectory()
        self.room = CleanRoom(self.trees, own / "clean", self.directory) if place == "clean room" else None

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / name.replace("__", "/").replace("_sh", ".sh").replace("_txt", ".txt")).write_text(text)

    def text(self, name: str) -> str:
        return (self.root / name).read_text()

    def all(self) -> Fired:
        return fired([self.command(COMMAND, "own")])

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun:
        self.before_check()
        where = self.directory.path or self.root
        self.runs.append((where / "check.sh").read_text() if (where / "check.sh").exists() else "")
        done = subprocess.run(line or command, shell=True, cwd=where, capture_output=True, text=True)
        return CheckRun(command=command, passed=done.returncode == 0, exit_code=done.returncode)

    def judge(
        self,
        task: Task = TASK,
        protect: tuple[str, ...] = (),
        existing: tuple[str, ...] = (),
        claim: Claim | None = None,
    ) -> AttemptVerdict:
        put_back = PutBack(self.trees, self.attempts, lambda: None)
        changes = self.attempts.observe()
        room = self.room or WorkTreeRoom(self.trees, self.attempts, changes.tree, lambda: None)
        protected = ProtectedFiles(protect, existing)
        runs = CornerRuns(put_back, room, self.memory, self)
        judgement = Judgement(self.trees, self.memory, [COMMAND], protected, runs)
        return judgement.judge(task, changes, self.attempts.state.verified, claim)


def fired(runs: list[CheckRun], failures: list[dict[str, Any]] | None = None, reason: str = "") -> Fired:
    """The outcome of quality.check with these runs; each that failed is a failure of the built-in handler."""
    own = [{"source": "default", "command": run.command, "message": "failed"} for run in runs if not run.passed]
    result = {"checks": [vars_of(run) for run in runs], "failures": [*own, *(failures or [])]}
    return Fired(
        event=QualityCheck(commands=[COMMAND]),
        ok=not result["failures"],
        stopped=False,
        result=result,
        reason=reason,
    )


class SetChecks:
    """Checks that always give the same."""

    def __init__(self, result: Fired) -> None:
        self._result = result
        self.calls = 0

    def all(self) -> Fired:
        self.calls += 1
        return self._result

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun | None:
        return None


def vars_of(run: CheckRun) -> dict[str, Any]:
    return {"command": run.command, "passed": run.passed, "exit_code": run.exit_code}


@pytest.fixture(params=["clean room", "in place"])
def judged(request: pytest.FixtureRequest, tmp_path: Path, git: Plain) -> Judged:
    root = tmp_path / "project"
    (root / "locked").mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return Judged(root, tmp_path / "own", request.param)


def test_work_that_touches_no_file_of_the_checks_is_judged_once(judged: Judged) -> None:
    judged.write(code_txt="right and more\n")
    verdict = judged.judge()
    assert (verdict.checks.passed, verdict.check_files, len(judged.runs)) == (True, (), 1)
    assert [run.passed for run in verdict.own_runs] == [True]


def test_work_that_fails_is_told_why_and_stays(judged: Judged) -> None:
    judged.write(code_txt="wrong\n")
    verdict = judged.judge()
    assert (verdict.checks.passed, verdict.checks.why) == (False, "`sh check.sh` ended with exit code 1")
    assert judged.text("code.txt") == "wrong\n"


def test_work_that_is_green_only_with_its_own_check_fails_and_stays_for_the_next_attempt(judged: Judged) -> None:
    judged.write(code_txt="wrong\n", check_sh="true\n")
    verdict = judged.judge()
    assert (verdict.checks.passed, verdict.contested[0], verdict.disputed) == (False, COMMAND, False)
    assert "as they were, they fail with this work: sh check.sh" in verdict.checks.why
    assert judged.runs == ["true\n", FILES["check.sh"], FILES["check.sh"]]  # a failure is repeated once
    assert [record.corner for record in verdict.checks.records] == ["own", "old tests"]
    assert (judged.text("check.sh"), judged.text("code.txt")) == ("true\n", "wrong\n")


def test_a_check_that_was_changed_honestly_stays_changed(judged: Judged) -> None:
    stricter = FILES["check.sh"] + "grep -q more code.txt\n"
    judged.write(code_txt="right and more\n", check_sh=stricter)
    verdict = judged.judge()
    assert (verdict.checks.passed, verdict.check_files) == (True, ("check.sh",))
    assert judged.runs == [stricter, FILES["check.sh"]]
    assert judged.text("check.sh") == stricter


def test_claim_that_contests_the_same_tests_again_is_disputed_and_can_be_accepted(judged: Judged) -> None:
    judged.write(code_txt="wrong\n", check_sh="grep -q wrong code.txt\n")
    first = judged.judge(claim=Claim())
    second = judged.judge(claim=Claim(sent_back=first.contested))
    assert (first.disputed, second.disputed) == (False, True)
    accepted = judged.judge(claim=Claim(accepted_by="ann"))
    assert accepted.checks.passed
    assert accepted.evidence is not None
    assert (accepted.evidence.grade, accepted.evidence.rests_on) == (
        "disputed",
        "tests fail that were there before; accepted by ann",
    )


def test_claim_whose_check_fails_on_the_old_source_shows_the_work(judged: Judged) -> None:
    judged.write(lib_sh="echo more\n", check_sh=FILES["check.sh"] + "test -f lib.sh\n")
    verdict = judged.judge(claim=Claim(kind="fix"))
    assert [record.corner for record in verdict.checks.records] == ["own", "old tests", "old source"]
    assert verdict.evidence is not None
    assert verdict.evidence.fail_to_pass == (COMMAND,)


def test_a_check_that_was_deleted_fails_the_attempt(judged: Judged) -> None:
    (judged.root / "check.sh").unlink()
    assert not judged.judge().checks.passed
    assert not (judged.root / "check.sh").exists()


def test_a_task_that_names_the_check_may_change_it(judged: Judged) -> None:
    judged.write(code_txt="wrong\n", check_sh="grep -q wrong code.txt\n")
    verdict = judged.judge(Task(id="1", title="One", files_to_modify=("check.sh",)))
    assert (verdict.checks.passed, verdict.check_files) == (True, ("check.sh",))
    assert judged.runs == ["grep -q wrong code.txt\n"]  # there is nothing to compare it with


def test_what_exists_is_protected_and_new_files_may_be_added_beside_it(judged: Judged) -> None:
    judged.write(locked__new_txt="new\n", code_txt="right and more\n")
    assert judged.judge(existing=("locked/",)).checks.passed
    judged.write(locked__api_txt="2\n")
    verdict = judged.judge(existing=("locked/",))
    assert "protects were changed, and put back: `locked/api.txt`;" in verdict.checks.why
    assert (judged.text("locked/api.txt"), judged.text("locked/new.txt")) == ("1\n", "new\n")
    (judged.root / "locked/api.txt").unlink()
    assert not judged.judge(existing=("locked/",)).checks.passed
    assert judged.text("locked/api.txt") == "1\n"


def test_a_protected_file_is_put_back_and_no_check_runs(judged: Judged) -> None:
    judged.write(locked__api_txt="2\n", code_txt="right and more\n")
    verdict = judged.judge(protect=("locked/",))
    assert not verdict.checks.passed
    assert "files that samuel.toml protects were changed, and put back: `locked/api.txt`" in verdict.checks.why
    assert (judged.text("locked/api.txt"), judged.text("code.txt")) == ("1\n", "right and more\n")
    assert judged.runs == []


def test_a_protected_file_is_changed_by_a_task_that_names_it(judged: Judged) -> None:
    judged.write(locked__api_txt="2\n")
    assert judged.judge(Task(id="1", title="One", files_to_modify=("locked/api.txt",)), ("locked/",)).checks.passed
    assert judged.text("locked/api.txt") == "2\n"


NOT_PUT = "the checks could not run: files could not be put back: `check.sh`: No space left on device"


@pytest.mark.parametrize("judged", ["in place"], indirect=True)
def test_work_whose_changed_check_cannot_be_put_back_fails(judged: Judged) -> None:
    judged.write(code_txt="right and more\n", check_sh="true\n")

    def fill() -> None:
        judged.disk.full = True

    judged.before_check = fill
    verdict = judged.judge()
    assert (verdict.checks.passed, verdict.checks.why, len(judged.runs)) == (False, NOT_PUT, 1)
    assert verdict.check_files == ("check.sh",)


@pytest.mark.parametrize("judged", ["in place"], indirect=True)
def test_work_whose_check_cannot_be_made_its_own_again_fails(judged: Judged) -> None:
    judged.write(code_txt="right and more\n", check_sh=FILES["check.sh"] + "grep -q more code.txt\n")

    def fill() -> None:
        judged.disk.full = len(judged.runs) == 1

    judged.before_check = fill
    verdict = judged.judge()
    assert (verdict.checks.passed, verdict.checks.why, len(judged.runs)) == (False, NOT_PUT, 2)
    judged.disk.full = False
    judged.attempts.observe()
    kept_attempt = judged.trees.refs.find(judged.attempts.keep("1", 1))
    assert kept_attempt is not None
    assert (judged.trees.content(kept_attempt.tree, "check.sh") or b"").endswith(b"grep -q more code.txt\n")


def test_protected_file_that_cannot_be_put_back_is_said(judged: Judged) -> None:
    judged.write(locked__api_txt="2\n")
    judged.disk.full = True
    why = judged.judge(protect=("locked/",)).checks.why
    assert "`locked/api.txt`; not all of them could be put back; only a task" in why
    assert "`locked/api.txt`: No space left on device" in why


def test_check_that_is_too_large_to_be_kept_is_refused_and_put_back(judged: Judged) -> None:
    judged.write(code_txt="wrong\n", check_sh="true\nexit\n")
    os.truncate(judged.root / "check.sh", LARGEST + 1)
    verdict = judged.judge()
    assert (verdict.checks.passed, verdict.checks.why, judged.runs) == (
        False,
        "files that the checks run or read cannot be judged: `check.sh` (it is larger than 256 MiB); "
        "leave them as they were; they were put back",
        [],
    )
    assert judged.text("check.sh") == FILES["check.sh"]


def test_protected_file_that_is_too_large_to_be_kept_is_refused(judged: Judged) -> None:
    os.truncate(judged.root / "locked/api.txt", LARGEST + 1)
    verdict = judged.judge(protect=("locked/",))
    assert (verdict.checks.passed, verdict.check_files) == (False, ("locked/api.txt",))
    assert judged.text("locked/api.txt") == "1\n"


def test_ref_of_an_attempt_has_the_checks_that_it_changed_and_the_next_attempt_goes_on_with_them(
    judged: Judged,
) -> None:
    judged.write(code_txt="wrong\n", check_sh="true\n")
    judged.judge()
    judged.attempts.observe()
    ref = judged.attempts.keep("1", 1)
    kept_attempt = judged.trees.refs.find(ref)
    assert kept_attempt is not None
    assert judged.trees.content(kept_attempt.tree, "check.sh") == b"true\n"
    assert judged.trees.content(kept_attempt.tree, "code.txt") == b"wrong\n"
    judged.attempts.start("1")
    assert (judged.text("check.sh"), judged.text("code.txt")) == ("true\n", "wrong\n")


@pytest.mark.parametrize("judged", ["in place"], indirect=True)
def test_kill_while_the_checks_run_with_old_tests_does_not_lose_those_of_the_attempt(judged: Judged) -> None:
    saved_states: list[TreeState] = []

    def killed() -> None:
        if judged.runs:
            saved_states.append(judged.attempts.state)
            assert judged.text("check.sh") == FILES["check.sh"]
            raise KeyboardInterrupt

    judged.write(code_txt="wrong\n", check_sh="true\n", new_sh="new\n")
    judged.before_check = killed
    with pytest.raises(KeyboardInterrupt):
        judged.judge()
    judged.write(check_sh=FILES["check.sh"])  # as a kill leaves it
    again = Attempts(judged.trees, "run-1", saved_states[0])
    again.resume()
    tree = again.state.attempts["1"].tree
    assert judged.trees.content(tree, "check.sh") == b"true\n"
    assert judged.trees.content(tree, "new.sh") == b"new\n"


def test_a_failure_that_the_baseline_had_is_accepted(judged: Judged) -> None:
    judged.memory.set_baseline((CheckRun(command=COMMAND, passed=False, exit_code=1),))
    judged.write(code_txt="wrong\n")
    assert judged.judge().checks.passed
    judged.memory.set_verified((CheckRun(command=COMMAND, passed=True, exit_code=0),))
    assert not judged.judge().checks.passed  # a completed task has put it right


def test_without_git_the_work_is_judged_once_and_nothing_is_put_back(tmp_path: Path) -> None:
    green = fired([CheckRun(command=COMMAND, passed=True, exit_code=0)])
    checks = SetChecks(green)
    memory = CheckMemory(tmp_path, "run-1")
    judgement = Judgement(None, memory, [COMMAND], ProtectedFiles(), CornerRuns(None, None, memory, checks))
    assert judgement.judge(TASK, AttemptChanges(), "", Claim()).checks.passed
    assert checks.calls == 1


class TestChecked:
    """What quality.check found, apart from the commands that ran."""

    RED = CheckRun(command=COMMAND, passed=False, exit_code=1)

    def test_a_failed_command_is_judged_by_its_run(self) -> None:
        assert checked(fired([self.RED])) == ((self.RED,), "")

    def test_what_another_handler_found_wrong_is_added(self) -> None:
        failures = [{"source": "lint", "message": "2 warnings", "output_tail": "a.py:1\n"}]
        assert checked(fired([self.RED], failures)).other_failures == "2 warnings\na.py:1"

    def test_a_check_that_could_not_run_says_why(self) -> None:
        refused = Fired(event=QualityCheck(commands=[]), ok=False, stopped=True, result={}, reason="not trusted")
        assert checked(refused) == ((), "not trusted")

    def test_another_failure_counts_though_all_commands_pass(self, judged: Judged) -> None:
        judged.write(code_txt="right and more\n")
        green = fired(
            [CheckRun(command=COMMAND, passed=True, exit_code=0)], [{"source": "x", "message": "no docs"}]
        )
        runs = CornerRuns(None, judged.room, judged.memory, SetChecks(green))
        judgement = Judgement(judged.trees, judged.memory, [COMMAND], ProtectedFiles(), runs)
        verdict = judgement.judge(TASK, judged.attempts.observe(), judged.attempts.state.verified)
        assert (verdict.checks.passed, verdict.checks.why) == (False, "no docs")


def test_claim_that_comes_again_unchanged_does_not_run_its_corners_again(judged: Judged) -> None:
    judged.write(code_txt="right and more\n", check_sh=FILES["check.sh"] + "grep -q more code.txt || exit 3\n")
    judged.judge(claim=Claim(kind="fix"))
    before = len(judged.runs)
    judged.judge(claim=Claim(kind="fix", sent_back=("unproven",)))
    own = 1
    assert len(judged.runs) - before == own
