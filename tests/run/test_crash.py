"""A run killed at any moment resumes: the same end as if it had not been killed.

The scenario has a usage limit, a failed attempt, a task that gets blocked and leaves debris, a question and its
answer, a commit for each completed task on a branch of the run's own, a budget, and files that a person had
changed before. Every write, fsync and rename is a place to die, and so is any moment in between. `make crash`
tries each operation that changes what is on the disk, some of the others, and 60 random moments; `make test` tries
three operations, spread over the runs, and 2 random moments. Both are split into parts, so that several workers
share them.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.length import FULL, at_length

from samuel.base.paths import User
from samuel.history.history import History, RunHistory
from samuel.history.run import Run
from samuel.history.run_file import RunFile
from samuel.receipts.statement import read_statement, why_not_of
from samuel.tasks.store import TaskStore

OPERATION_PARTS = at_length(3, 48)
MOMENT_PARTS = at_length(1, 10)
MOMENTS_OF_A_PART = at_length(2, 6)

# Iterations are counted when they are settled, so this agent does the same after a kill as it would have done.
AGENT = """#!/bin/sh
set -e
prompt=$(cat)
end() {
    printf '{"type": "result", "subtype": "success", "is_error": %s, "result": "%s", ' "$1" "$2"
    printf '"usage": {"input_tokens": 10, "output_tokens": 5}}\\n'
    exit "$3"
}
right() {
    echo right > "work-$SAMUEL_TASK_ID.txt"
    samuel run done "$SAMUEL_TASK_ID"
}
wrong() {
    echo wrong > "work-$SAMUEL_TASK_ID.txt"
    mkdir -p debris
    echo "$SAMUEL_ATTEMPT" > "debris/$SAMUEL_TASK_ID.txt"
    echo broken > code.txt
    rm -f old.txt
    samuel run done "$SAMUEL_TASK_ID"
}
case "$SAMUEL_TASK_ID/$SAMUEL_ATTEMPT" in
1/*)
    if [ "$SAMUEL_ITERATION" = 1 ]; then
        echo begun > begun-1.txt
        reset=$(($(date +%s) + 1))
        printf '{"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": %s}}\\n' $reset
        end true "Claude AI usage limit reached|$reset" 1
    fi
    right;;
2/1) wrong;;
2/*) rm -rf debris; echo code > code.txt; echo old > old.txt; right;;
3/*) wrong;;
4/*)
    case "$prompt" in
    *"use spaces"*) right;;
    *) echo half > half-4.txt; samuel run ask "tabs or spaces?";;
    esac;;
*) right;;
esac
end false done 0
"""
ITERATIONS = [
    ("1", 1, "limited"),
    ("1", 1, "completed"),
    ("2", 1, "quality_failed"),
    ("2", 2, "completed"),
    ("3", 1, "quality_failed"),
    ("3", 2, "quality_failed"),
    ("4", 1, "asked"),
    ("5", 1, "completed"),
]
# A kill after the question and before its iteration was settled: the question counts, its iteration does not.
WITHOUT_THE_QUESTION = [entry for entry in ITERATIONS if entry[2] != "asked"]
AFTER_THE_ANSWER = [("4", 1, "completed")]
TOKENS = 15  # of an iteration
DAY = TOKENS * (len(ITERATIONS) + len(AFTER_THE_ANSWER))
CONFIG = f"""
[methodology.ralph]
agent = "mine"
pause = "0s"
branch = true
max_task_attempts = 2
quality_checks = ["! grep -q wrong work-*.txt"]
max_day_tokens = {DAY + 1}  # an iteration that is counted twice ends the run
[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
stream = "claude"
"""
# Runs the loop with a disk that kills its own process at the n-th operation (0: never), and answers the question.
# It prints the numbers of the operations that put a file of the work tree back, a dash, those of the operations
# that rename, remove or append to a file, and how many there were.
DRIVER = """
import os, signal, subprocess, sys
from pathlib import Path
from samuel.app import App, Machine, Overrides
from samuel.files.atomic import Disk
from samuel.history.run_file import RunFile
from samuel.attempt.stop import Stop
from samuel.base.paths import User
from samuel.tasks.store import TaskStore

class Deadly(Disk):
    left = int(sys.argv[1])
    count = 0
    putting = []
    changing = []
    last = ""

    def __getattribute__(self, name):
        if name in ("create", "chmod", "write", "fsync", "replace", "remove"):
            Deadly.count += 1
            if Deadly.count == Deadly.left:
                os.kill(os.getpid(), signal.SIGKILL)
            appends = name == "write" and Deadly.last not in ("create", "chmod", "write")
            if name in ("replace", "remove") or appends:
                Deadly.changing.append(Deadly.count)
            if sys._getframe(1).f_globals["__name__"] == "samuel.files.put_inside":
                Deadly.putting.append(Deadly.count)
            Deadly.last = name
        return super().__getattribute__(name)

state = Path(".samuel/run").absolute()
samuel, sys.executable = sys.argv[2] + "/samuel", sys.argv[2] + "/python"  # the agent starts it with that one
run = RunFile(state, User.from_environment().record(state)).load()
while run is None or run.exit_reason in (None, "waiting"):
    if run is not None and run.over and any(task.open_questions for task in TaskStore(state).load()):
        subprocess.run([samuel, "run", "answer", "q1", "use spaces"], check=True)
    with App(".", machine=Machine(disk=Deadly()), overrides=Overrides(trust_everything=True)) as app:
        run = app.loop(Stop()).run(25, ["mine"])
print(run.exit_reason, *Deadly.putting, "-", *Deadly.changing, Deadly.count, file=sys.stderr)
"""
END = "tasks_blocked"


@pytest.fixture(scope="session")
def initial_project(fast_samuel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with five tasks, before its first run. It is not changed: tests copy it."""
    root = tmp_path_factory.mktemp("crash") / "project"
    root.mkdir()
    (root / "samuel.toml").write_text(CONFIG)
    (root / "agent.sh").write_text(AGENT)
    (root / "agent.sh").chmod(0o755)
    names = ("One", "Two", "Three", "Four", "Five")
    tasks = "".join(f"- [ ] {number} {name}\n" for number, name in enumerate(names, 1))
    (root / "prd.md").write_text(f"## Tasks\n{tasks}")
    for name in ("code", "old", "mine"):
        (root / f"{name}.txt").write_text(f"{name}\n")
    for command in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "config", "user.name", "t"],
        ["git", "config", "user.email", "t@example.org"],
        [f"{fast_samuel}/samuel", "run", "init", "--prd", "prd.md"],
        ["git", "add", "-A"],
        ["git", "commit", "-q", "-m", "begin"],
    ):
        subprocess.run(command, cwd=root, check=True, capture_output=True)
    (root / "mine.txt").write_text("changed by a person\n")
    (root / "notes.txt").write_text("a person's notes\n")
    return root


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_home(tmp_path / "home", monkeypatch)


class Operations(NamedTuple):
    """The numbers of operations to die at."""

    all: list[int]
    """Those that change a file, and some others."""
    putting: list[int]
    """Those that put a file of the work tree back: few, and in the middle of what must be done as a whole."""


@pytest.fixture(scope="session")
def operations(initial_project: Path, fast_samuel: Path, tmp_path_factory: pytest.TempPathFactory) -> Operations:
    """The operations of runs that nothing disturbs."""
    place = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_home(place / "home", monkeypatch)
        root = copy_of(initial_project, place / "project")
        reason, *numbers, last = end_of(driven(root, fast_samuel))
        assert reason == END
        check_the_end(root)
        assert len(check_history(root)[0].attempts) == len(ITERATIONS)
    middle = numbers.index("-")
    putting, changing = map(int, numbers[:middle]), map(int, numbers[middle + 1 :])
    return Operations(sorted({*changing, *range(1, int(last) + 1, 25)}), sorted(putting))


def use_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("SAMUEL_TRUST", "all")


def copy_of(initial_project: Path, root: Path) -> Path:
    return shutil.copytree(initial_project, root, symlinks=True)


def driven(root: Path, programs: Path, die_at: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, str(die_at), str(programs)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)


def end_of(driver: subprocess.CompletedProcess[str]) -> list[str]:
    """The last line of a driver: how the run ended, and the numbers of its operations."""
    assert driver.returncode == 0, driver.stderr
    return driver.stderr.splitlines()[-1].split()


def last_run(root: Path) -> Run | None:
    """As a start would find it: a kill can come between the record and run.json."""
    return RunFile(root / ".samuel/run", record(root)).load()


def record(root: Path) -> Path:
    return User.from_environment().record(root / ".samuel/run")


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def check_the_end(root: Path) -> None:
    check_tasks(root)
    first, second = check_history(root)
    check_work_tree(root)
    check_refs(root, first, second)
    check_branch(root, first)
    check_receipts(root)
    progress = (root / ".samuel/run/progress.md").read_text()
    counts = [progress.count(f"iteration {number} ") for number in range(1, len(first.attempts) + 1)]
    assert counts == [2] + [1] * (len(first.attempts) - 1)  # both runs have a first iteration


def check_tasks(root: Path) -> None:
    tasks = TaskStore(root / ".samuel/run").load()
    assert [(task.id, task.status, task.attempts, task.claimed, task.grade) for task in tasks] == [
        ("1", "completed", 0, False, "checked"),
        ("2", "completed", 1, False, "checked"),
        ("3", "blocked", 2, False, ""),
        ("4", "completed", 0, False, "checked"),
        ("5", "completed", 0, False, "checked"),
    ]
    questions = [(task.id, question.text, question.answer) for task in tasks for question in task.questions]
    assert questions == [("4", "tabs or spaces?", "use spaces")]


def check_history(root: Path) -> tuple[RunHistory, RunHistory]:
    """Each iteration of both runs is recorded and counted once; gives the runs."""
    run = last_run(root)
    assert run is not None
    assert (run.exit_reason, run.iterations_run, run.outcomes) == (END, 1, {"completed": 1})
    second, first = History.of(root / ".samuel/run", record(root)).all()
    assert second.run.run_id == run.run_id
    expected = ITERATIONS if len(first.attempts) == len(ITERATIONS) else WITHOUT_THE_QUESTION
    for history, iterations, reason in ((first, expected, "waiting"), (second, AFTER_THE_ANSWER, END)):
        assert [(entry.task_id, entry.attempt, entry.outcome) for entry in history.attempts] == iterations
        assert [entry.iteration for entry in history.attempts] == list(range(1, len(iterations) + 1))
        assert (history.run.exit_reason, [check.passed for check in history.run.baseline]) == (reason, [True])
        usage = {"input_tokens": 10 * len(iterations), "output_tokens": 5 * len(iterations)}
        assert {name: history.run.usage.get(name) for name in usage} == usage
        assert (root / ".samuel/run/reports" / history.run.run_id / "report.html").exists()
    shas = {task.id: task.commit_sha for task in TaskStore(root / ".samuel/run").load() if task.commit_sha}
    assert {entry.task_id: entry.commit for entry in (*first.attempts, *second.attempts) if entry.commit} == shas
    return first, second


def check_receipts(root: Path) -> None:
    """Each commit of a task has its receipt, written once, and no other commit has one."""
    commits = git(root, "log", "--format=%H", "--grep=^Samuel-Iteration: ").split()
    notes = dict(line.split()[::-1] for line in git(root, "notes", "--ref=samuel", "list").splitlines())
    assert sorted(notes) == sorted(commits)
    assert git(root, "rev-list", "--count", "refs/notes/samuel").strip() == str(len(commits))
    for commit in commits:
        receipt = read_statement(git(root, "cat-file", "blob", notes[commit]).encode())
        tree, message = git(root, "log", "-1", "--format=%T%n%B", "--no-notes", commit).split("\n", 1)
        assert why_not_of(receipt, commit, tree, message) == ""


def check_work_tree(root: Path) -> None:
    """All work of a completed task is in its one commit, nothing of any other is left, a person's files stay."""
    log = git(root, "log", "--format=%s", "--name-only")
    assert [line for line in log.split("\n") if line][:10] == [
        *("4 Four", "half-4.txt", "work-4.txt"),  # it goes on with what it had when it asked
        *("5 Five", "work-5.txt"),
        *("2 Two", "work-2.txt"),
        *("1 One", "begun-1.txt", "work-1.txt"),
    ]
    assert git(root, "log", "--format=%s").split("\n")[4:] == ["begin", ""]
    assert git(root, "status", "--short") == " M mine.txt\n?? notes.txt\n"
    assert (root / "mine.txt").read_text() == "changed by a person\n"
    assert (root / "notes.txt").read_text() == "a person's notes\n"
    assert not (root / "debris").exists()


def check_refs(root: Path, first: RunHistory, second: RunHistory) -> None:
    """Every attempt that was not completed is kept, with all that it changed, and so is each commit of a task.

    A run that was killed before it was first saved may leave the refs of the run itself.
    """
    runs = [f"refs/samuel/{history.run.run_id}" for history in (first, second)]
    refs = git(root, "for-each-ref", "--format=%(refname)", "refs/samuel").split()
    refs = [ref for ref in refs if not ref.startswith("refs/samuel/branches/")]
    own = [ref for ref in refs if ref.startswith(tuple(runs))]
    assert all(ref.endswith(("/verified", "/person")) for ref in refs if ref not in own)
    attempt_refs = [
        f"{runs[0]}/{entry.task_id}/{entry.attempt}"
        for entry in first.attempts
        if entry.outcome in ("quality_failed", "asked")
    ]
    landed = [
        f"{run}/landed/{entry.task_id}"
        for run, history in zip(runs, (first, second), strict=True)
        for entry in history.attempts
        if entry.commit
    ]
    of_runs = [f"{run}/{name}" for run in runs for name in ("before", "person", "verified")]
    assert own == sorted([*attempt_refs, *landed, *of_runs])
    for number in ("1", "2"):
        ref = f"{runs[0]}/3/{number}"
        changed = git(root, "diff", "--name-status", f"{ref}^", ref)
        assert changed.split("\n") == ["M\tcode.txt", "A\tdebris/3.txt", "D\told.txt", "A\twork-3.txt", ""]
        assert git(root, "show", f"{ref}:debris/3.txt") == f"{number}\n"


def check_branch(root: Path, first: RunHistory) -> None:
    """Both runs worked on the branch of the first one, which is checked out, and knows where it came from."""
    assert git(root, "branch", "--show-current") == f"samuel/{first.run.run_id}\n"
    assert git(root, "branch", "--format=%(refname:short)").split() == ["main", f"samuel/{first.run.run_id}"]
    assert git(root, "log", "-1", "--format=%s", "main") == "begin\n"
    refs = git(root, "for-each-ref", "--format=%(refname)", "refs/samuel/branches").split()
    assert refs == [f"refs/samuel/branches/{first.run.run_id}/from/main"]


# A git that kills the run before or after the call that its words name, once.
DEADLY_GIT = """#!/bin/sh
case "$*" in
*"{words}"*) ;;
*) exec {git} "$@" ;;
esac
mkdir "$0.done" 2>/dev/null || exec {git} "$@"
[ {when} = before ] || {git} "$@"
kill -9 $(cat "$0.pid")
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("words", ["refs/samuel/branches/", "samuel: branch of main", "symbolic-ref -m"])
def test_a_run_killed_between_saving_its_branch_and_checking_it_out_resumes_on_it(
    words: str,
    when: str,
    initial_project: Path,
    fast_samuel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root, programs = copy_of(initial_project, tmp_path / "project"), tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text(DEADLY_GIT.format(words=words, when=when, git=shutil.which("git")))
    (programs / "git").chmod(0o755)
    with monkeypatch.context() as deadly:
        deadly.setenv("PATH", str(programs), prepend=":")
        command = [sys.executable, "-c", DRIVER, "0", str(fast_samuel)]
        process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE)
        (programs / "git.pid").write_text(str(process.pid))
        _, errors = process.communicate(timeout=300)
    run = last_run(root)
    assert process.returncode == -signal.SIGKILL, errors
    assert run is not None
    assert run.own_branch
    assert not run.over
    on = f"samuel/{run.run_id}" if (words, when) == ("symbolic-ref -m", "after") else "main"
    assert git(root, "branch", "--show-current") == f"{on}\n"
    end_of(driven(root, fast_samuel))
    check_the_end(root)


@pytest.mark.parametrize("part", range(OPERATION_PARTS))
def test_a_run_killed_at_a_write_fsync_or_rename_resumes(
    part: int, operations: Operations, initial_project: Path, fast_samuel: Path, tmp_path: Path
) -> None:
    assert len(operations.all) > 60
    if FULL:
        numbers = operations.all[part::OPERATION_PARTS]
    elif part < 2:
        numbers = [operations.putting[-part] + 1]  # with the file gone, and others not yet
    else:
        width = len(operations.all) // (OPERATION_PARTS - 2)
        chance = random.Random(len(operations.all) + part)
        numbers = [operations.all[(part - 2) * width + chance.randrange(width)]]
    for number in numbers:
        root = copy_of(initial_project, tmp_path / f"at-{number}")
        died = driven(root, fast_samuel, number)
        assert died.returncode == -signal.SIGKILL, (number, died.stderr)
        TaskStore(root / ".samuel/run").load()  # readable, whatever happened
        end_of(driven(root, fast_samuel))
        check_the_end(root)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(MOMENT_PARTS))
def test_a_run_killed_at_random_moments_resumes(
    part: int, initial_project: Path, fast_samuel: Path, tmp_path: Path
) -> None:
    """Killed again and again, until it is through; then once more from the beginning."""
    project = copy_of(initial_project, tmp_path / "project")
    chance = random.Random(part)
    killed = 0
    for number in range(MOMENTS_OF_A_PART):
        command = [sys.executable, "-c", DRIVER, "0", str(fast_samuel)]
        process = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 2.5))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        TaskStore(project / ".samuel/run").load()
        run = last_run(project)
        if run is not None and run.exit_reason == END:
            check_the_end(project)
            project = copy_of(initial_project, tmp_path / f"project-{number}")
    assert killed
    end_of(driven(project, fast_samuel))
    check_the_end(project)
