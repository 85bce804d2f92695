"""Completed tasks are marked in the file that they came from, by the loop alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from samuel.app import Machine
from samuel.base import paths
from samuel.files.atomic import Disk
from samuel.history.notices import LoopWarning
from samuel.tasks.importing import import_tasks, open_source
from samuel.tasks.origin import OriginFile, Origins, origin_directory, origin_of

from .conftest import GOOD, LoopProject

PLAN = "# Shop\r\n\r\nWords.\r\n\r\n## Tasks\r\n\r\n- [ ] 1 Prices\r\n- [ ] 2 Totals  \r\n"


def bring(loop: LoopProject, name: str = "plan.md", text: str = PLAN, *, commit: bool = True) -> None:
    """Read the tasks of a file into the task list, as `samuel run init` does."""
    file = loop.root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    task_import = import_tasks(open_source(name, loop.root, bytes)[0])
    loop.store.replace_all(task_import.imported.tasks)
    origins(loop).save(Origins((origin_of(task_import, loop.root, write_back=True),)))
    if commit:
        git(loop, "add", "--all")
        git(loop, "commit", "-qm", "the plan")


def origins(loop: LoopProject) -> OriginFile:
    state = loop.root / ".samuel/run"
    return OriginFile(origin_directory(state, paths.User.from_environment().record(state)))


def git(loop: LoopProject, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=loop.root, check=True, capture_output=True, text=True).stdout


def text_of(loop: LoopProject, name: str = "plan.md") -> str:
    return (loop.root / name).read_bytes().decode()


def warnings(loop: LoopProject) -> list[str]:
    return [report.text for report in loop.reports if isinstance(report, LoopWarning)]


@pytest.mark.slow
def test_the_box_of_a_completed_task_is_ticked_in_the_commit_of_its_task(loop: LoopProject) -> None:
    loop.configure("commit = true")
    bring(loop)
    run = loop.run()
    assert run.exit_reason == "queue_empty"
    assert text_of(loop) == PLAN.replace("[ ]", "[x]")
    assert git(loop, "show", "--format=%s", "--unified=0", "HEAD~1", "--", "plan.md").splitlines()[-2:] == [
        "-- [ ] 1 Prices",
        "+- [x] 1 Prices",
    ]
    assert "plan.md" not in git(loop, "status", "--porcelain")
    assert origins(loop).load().unwritten == ()


@pytest.mark.slow
def test_a_file_with_changes_of_a_person_is_marked_and_not_committed(loop: LoopProject) -> None:
    loop.configure("commit = true")
    bring(loop, commit=False)
    loop.run()
    assert text_of(loop) == PLAN.replace("[ ]", "[x]")
    assert git(loop, "status", "--porcelain", "plan.md") == "?? plan.md\n"


@pytest.mark.slow
def test_a_failed_task_is_not_marked_and_a_box_that_its_agent_ticked_is_put_back(loop: LoopProject) -> None:
    loop.configure("max_task_attempts = 1\nmax_consecutive_failures = 9\nquality_checks = ['test ! -e bad']")
    bring(loop)
    loop.agent(f"sed -i 's/\\[ \\]/[x]/' plan.md\ntouch bad\n{GOOD}")
    loop.run()
    assert set(loop.statuses().values()) == {"blocked"}
    assert text_of(loop) == PLAN


def test_an_agent_that_only_ticks_its_box_has_changed_nothing(loop: LoopProject) -> None:
    loop.configure("max_task_attempts = 1\nmax_consecutive_failures = 9")
    bring(loop)
    loop.agent("sed -i 's/\\[ \\]/[x]/' plan.md\nsamuel run done $SAMUEL_TASK_ID\n")
    run = loop.run()
    assert dict(run.outcomes) == {"stalled": 2}
    assert text_of(loop) == PLAN


@pytest.mark.slow
def test_an_agent_that_ticks_its_box_and_does_its_task_completes_it(loop: LoopProject) -> None:
    loop.configure("commit = true")
    bring(loop)
    loop.agent(f'sed -i "s/\\[ \\] $SAMUEL_TASK_ID/[x] $SAMUEL_TASK_ID/" plan.md\n{GOOD}')
    loop.run()
    assert set(loop.statuses().values()) == {"completed"}
    assert text_of(loop) == PLAN.replace("[ ]", "[x]")
    assert warnings(loop) == []


def test_what_a_person_edits_meanwhile_stays_and_only_our_box_is_ticked(loop: LoopProject) -> None:
    bring(loop)
    loop.agent(
        f"[ $SAMUEL_TASK_ID = 2 ] || printf -- '- [ ] 3 New\\n' | cat - plan.md > p && mv p plan.md\n{GOOD}"
    )
    loop.run(iterations=1)
    assert text_of(loop) == "- [ ] 3 New\n" + PLAN.replace("[ ] 1", "[x] 1")


@pytest.mark.slow
def test_a_task_that_is_gone_from_the_file_is_named_and_kept_for_the_next_time(loop: LoopProject) -> None:
    bring(loop)
    other = PLAN.replace("1 Prices", "1 Other")
    loop.agent(f"sed -i 's/1 Prices/1 Other/' plan.md\n{GOOD}")
    loop.run(iterations=1)
    assert text_of(loop) == other
    assert warnings(loop) == [
        "`1` is completed, but not marked in `plan.md`: it has no `Prices` any more; `samuel run sync` looks "
        "again; it is tried again the next time"
    ]
    assert origins(loop).load().unwritten == ("1",)
    (loop.root / "plan.md").write_bytes(PLAN.encode())  # a person brings it back
    loop.agent(GOOD)
    loop.run(iterations=1)
    assert text_of(loop) == PLAN.replace("[ ]", "[x]")
    assert origins(loop).load().unwritten == ()


def test_a_link_that_an_agent_put_in_place_of_the_file_is_not_followed(loop: LoopProject, tmp_path) -> None:
    bring(loop)
    outside = tmp_path / "outside.md"
    outside.write_bytes(PLAN.encode())
    loop.agent(f"rm plan.md\nln -s {outside} plan.md\n{GOOD}")
    loop.run(iterations=1)
    assert outside.read_bytes() == PLAN.encode()
    assert "reached by a symbolic link" in warnings(loop)[-1]


class KilledDisk(Disk):
    """Ends the process, as far as the loop can tell, when a file of this name was replaced."""

    def __init__(self, name: str) -> None:
        self.name = name

    def replace(self, old: str, new: str, directory: int) -> None:
        super().replace(old, new, directory)
        if new == self.name:
            self.name = ""
            raise KeyboardInterrupt


@pytest.mark.slow
def test_a_run_that_is_killed_right_after_the_mark_commits_it_when_it_resumes(loop: LoopProject) -> None:
    loop.configure("commit = true")
    bring(loop)
    loop.run(machine=Machine(disk=KilledDisk("plan.md")))
    assert text_of(loop) == PLAN.replace("[ ] 1", "[x] 1")
    assert loop.statuses()["1"] == "in_progress"
    loop.run()
    assert set(loop.statuses().values()) == {"completed"}
    assert "+- [x] 1 Prices" in git(loop, "show", "HEAD~1", "--", "plan.md")
    assert "plan.md" not in git(loop, "status", "--porcelain")


def test_passes_becomes_true_in_a_prd_json_and_no_other_byte_changes(loop: LoopProject) -> None:
    text = json.dumps({"userStories": [{"id": "US-1", "title": "Prices", "passes": False, "x": [1, 2]}]}, indent=3)
    bring(loop, "prd.json", text)
    loop.run()
    assert text_of(loop, "prd.json") == text.replace("false", "true")


# A git that kills the process group of the run at its first commit: before it, or when it is made.
DEADLY_GIT = """#!/bin/sh
case " $* " in
*" commit --quiet "*)
    if mkdir {mark} 2>/dev/null; then
        [ {when} = before ] || {git} "$@"
        kill -9 -$(cat {pid}); sleep 5
    fi;;
esac
exec {git} "$@"
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_that_is_killed_between_the_mark_and_the_commit_commits_both(
    tmp_path: Path, fast_samuel: Path, when: str
) -> None:
    """By SIGKILL, in a run of the installed program."""
    root, programs, pid = tmp_path / "project", tmp_path / "programs", tmp_path / "pid"
    (root / ".samuel/scripted").mkdir(parents=True)
    programs.mkdir()
    env = {**os.environ, "PATH": f"{fast_samuel}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    env |= {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}

    def call(*command: str) -> str:
        done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    agent = root / ".samuel/scripted/default"
    agent.write_text('#!/bin/sh\necho 1 > "work-$SAMUEL_TASK_ID.txt"\nsamuel run done "$SAMUEL_TASK_ID"\n')
    agent.chmod(0o755)
    (root / "samuel.toml").write_text(
        '[methodology.ralph]\nagent = "scripted"\npause = "0s"\ncommit = true\nquality_checks = ["true"]\n'
    )
    (root / "plan.md").write_bytes(PLAN.encode())
    call("git", "init", "-q", "-b", "main")
    call("git", "config", "user.name", "A Person")
    call("git", "config", "user.email", "person@example.org")
    call("samuel", "run", "init", "--from", "plan.md", "--yes")
    call("git", "add", "-A")
    call("git", "commit", "-q", "-m", "begin")
    script = DEADLY_GIT.format(git=shutil.which("git"), mark=tmp_path / "killed", pid=pid, when=when)
    (programs / "git").write_text(script)
    (programs / "git").chmod(0o755)
    process = subprocess.Popen(
        [
            "sh",
            "-c",
            f'echo $$ > {pid}; exec "$@"',
            "sh",
            sys.executable,
            "-P",
            "-m",
            "samuel",
            "run",
            "start",
            "--yes",
        ],
        cwd=root,
        env={**env, "PATH": f"{programs}:{env['PATH']}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.wait(120) == -signal.SIGKILL
    assert "- [x] 1 Prices" in (root / "plan.md").read_text(), "the mark is written before the commit"

    call("samuel", "run", "start", "--yes")

    assert (root / "plan.md").read_bytes().decode() == PLAN.replace("[ ]", "[x]")
    assert call("git", "status", "--porcelain") == ""
    log = call("git", "log", "--reverse", "--format=%s", "--name-only", "--diff-filter=AM", "HEAD~2..").split("\n")
    assert [line for line in log if line] == [
        "1 Prices",
        "plan.md",
        "work-1.txt",
        "2 Totals",
        "plan.md",
        "work-2.txt",
    ]
