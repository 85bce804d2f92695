"""A run with lanes on a disk that becomes full: it says so and ends, and goes on when there is room again."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.length import at_length
from tests.workspaces.lanes.project import LaneProject

SIZE = "24m"
TASKS = 4
LANES = 2

# A git that fills the disk before its n-th call with these words in it.
FILLING_GIT = """#!/bin/sh
case " $* " in
*" {words}"*) ;;
*) exec {git} "$@" ;;
esac
echo >> {count}
if [ "$(wc -l < {count})" -ge {call} ] && mkdir {count}.done 2>/dev/null; then
    dd if=/dev/zero of={filler} bs=64k 2>/dev/null
    dd if=/dev/zero of={filler} bs=1 oflag=append conv=notrunc 2>/dev/null
fi
exec {git} "$@"
"""


@pytest.fixture
def small(
    tmp_path: Path, fast_samuel: Path, with_compiled_python: Callable[[Path], None]
) -> Iterator[LaneProject]:
    """A project whose repository, lanes and state are on a small disk of their own."""
    disk, home = tmp_path / "disk", tmp_path / "home"
    disk.mkdir()
    home.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        with_compiled_python(home / "cache")
        project = LaneProject(disk, fast_samuel, home)
        project.env["XDG_STATE_HOME"] = str(disk / "state")
        yield project
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def filled_by_git(project: LaneProject, call: int, beside: Path, words: str = "") -> None:
    """Put a git on PATH that fills the disk before its n-th call, of all or of those with these words."""
    programs = beside / "filling"
    programs.mkdir()
    script = FILLING_GIT.format(
        git=shutil.which("git"),
        count=beside / "count",
        call=call,
        filler=project.root.parent / "filler",
        words=words,
    )
    (programs / "git").write_text(script)
    (programs / "git").chmod(stat.S_IRWXU)
    project.env["PATH"] = f"{programs}:{project.env['PATH']}"


def ends_and_goes_on(project: LaneProject) -> str:
    """Run until the disk is full, make room, and run again; gives what the first run printed."""
    path, filler = project.env["PATH"], project.root.parent / "filler"
    ran = project.start(lanes=LANES, code=None)

    assert filler.exists(), "the run has at least as many git calls"
    assert ran.code == 1, ran.screen
    assert ran.err.endswith(
        "No space left on device\n"
        "make room on that disk, then run the same command again: a run goes on where it stopped\n"
    )
    assert "Traceback" not in ran.screen

    os.unlink(filler)
    project.env["PATH"] = path.partition(":")[2]
    project.start(lanes=LANES)

    project.assert_sound(TASKS)
    assert project.git("status", "--porcelain") == ""
    return ran.screen


@pytest.mark.parametrize("call", at_length([70], list(range(5, 200, 5))))
def test_a_run_on_a_full_disk_ends_with_a_message_and_goes_on_when_there_is_room(
    small: LaneProject, tmp_path: Path, call: int
) -> None:
    small.prepare(TASKS)
    filled_by_git(small, call, tmp_path)

    ends_and_goes_on(small)


@pytest.mark.slow
def test_a_work_tree_whose_file_was_cut_off_by_a_full_disk_follows_when_there_is_room(
    small: LaneProject, tmp_path: Path
) -> None:
    small.prepare(TASKS)
    filled_by_git(small, 1, tmp_path, "read-tree -m -u")

    screen = ends_and_goes_on(small)

    assert "your work tree did not follow `main`: " in screen
    assert "unable to write file" in screen, "the first failure is named, not what it left"
    assert (small.root / "work-1.txt").read_text() == "1\n"
