"""How much the processes of a plugin may use: tried by processes that want more."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.confine.test_walls import PYTHON, Project, cannot

from samuel.confine.walls import landlock as walls_landlock
from samuel.confine.walls import limits, walls
from samuel.confine.walls.limits import ProcessLimits, limited
from samuel.confine.walls.places import GrantedPaths
from samuel.confine.walls.walls import BWRAP, LANDLOCK, NONE
from samuel.process import spawn
from samuel.process.conversation import Conversation

MIB = 1024 * 1024
NOBODY = 65534
SMALL = ProcessLimits(memory=256 * MIB, processes=30)


@pytest.fixture(params=[BWRAP, LANDLOCK, NONE])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    if request.param == BWRAP and walls.strength().kind != BWRAP:
        cannot(walls.strength().why)
    if request.param == LANDLOCK and not walls_landlock.try_it()[0]:
        cannot("this kernel has no landlock")
    return Project(tmp_path, request.param)


@pytest.fixture
def groups() -> None:
    if limits.gaps():
        cannot("control groups cannot be made here")


def run(project: Project, code: str) -> spawn.Finished:
    argv = [sys.executable, "-I", "-S", "-c", code]
    with walls.walled(
        argv, GrantedPaths(), project.inside, visible=PYTHON, kind=project.kind, limits=SMALL
    ) as command:
        env = {"PATH": "/usr/bin:/bin"}
        return spawn.run(command.argv, cwd=str(project.root), env=env, timeout=120.0, pass_fds=command.pass_fds)


def left_behind() -> list[str]:
    mark = f"samuel-{os.getpid()}-"
    return [name for base in limits._bases() for name in os.listdir(base) if name.startswith(mark)]


def test_a_process_gets_no_more_memory_than_its_limit(project: Project) -> None:
    wants = "bytearray(%d * 1024 * 1024); print('has it')"
    assert run(project, wants % 64).stdout == b"has it\n"
    refused = run(project, wants % 512)
    assert refused.returncode == 1
    assert b"MemoryError" in refused.stderr


def test_address_space_that_is_only_reserved_is_not_memory(project: Project) -> None:
    """As JavaScript engines and others do, many gigabytes at a time."""
    code = "import mmap; mmap.mmap(-1, 64 << 30, flags=mmap.MAP_PRIVATE | 0x4000, prot=0); print('has it')"
    assert run(project, code).stdout == b"has it\n"


@pytest.mark.slow
@pytest.mark.usefixtures("groups")
def test_processes_of_a_call_together_get_no_more_memory_than_its_limit(project: Project) -> None:
    code = """
import os
children = []
for _ in range(8):
    if (child := os.fork()) == 0:
        kept = bytearray(100 * 1024 * 1024)
        kept[::4096] = b"x" * len(kept[::4096])
        os.read(0, 1)  # the end of the input
        os._exit(0)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
"""
    finished = run(project, code)
    killed = finished.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL) or f"{signal.SIGKILL}," in (
        finished.stdout.decode()
    )
    assert killed, finished


@pytest.mark.usefixtures("groups")
def test_the_number_of_processes_is_limited(project: Project) -> None:
    code = """
import os, time
started = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        started += 1
except OSError as error:
    print(error.strerror, flush=True)
print(started)
"""
    finished = run(project, code)
    why, started = finished.stdout.decode().splitlines()
    assert why == "Resource temporarily unavailable"
    assert int(started) < SMALL.processes


def test_no_group_is_left_when_a_call_has_ended(project: Project) -> None:
    assert run(project, "import os; os.fork() or os.fork()").returncode == 0
    with walls.walled(["/bin/true"], GrantedPaths(), project.inside, kind=project.kind):
        pass
    with (
        pytest.raises(ZeroDivisionError),
        walls.walled(["/bin/true"], GrantedPaths(), project.inside, stays=True, kind=project.kind),
    ):
        raise ZeroDivisionError
    assert left_behind() == []


@pytest.mark.usefixtures("groups")
def test_a_process_that_stays_keeps_its_group_until_it_is_closed(project: Project) -> None:
    with walls.walled(["/bin/cat"], GrantedPaths(), project.inside, stays=True, kind=project.kind) as command:
        fds, release = command.pass_fds, command.release
        conversation = Conversation(command.argv, cwd="/", env={}, pass_fds=fds, over_stdio=True, after=release)
    try:
        assert conversation.ask(b"x\n", timeout=60, limit=100).answer == b"x\n"
        assert left_behind()
    finally:
        conversation.close()
    assert left_behind() == []


@pytest.mark.usefixtures("groups")
def test_a_group_of_a_samuel_that_was_killed_is_removed_by_the_next() -> None:
    code = "from samuel.confine.walls.limits import *; group = make_group(1 << 30, 10); print(*group.directories)"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert output
    assert all(map(os.path.isdir, output))
    subprocess.run([sys.executable, "-c", f"{code}; group.remove()"], capture_output=True, check=True)
    assert not any(map(os.path.isdir, output))


def test_a_group_that_cannot_be_joined_keeps_nothing_from_running(tmp_path: Path) -> None:
    argv = limits._command(["/bin/echo", "ran"], SMALL, [str(tmp_path / "none" / "cgroup.procs")])
    finished = spawn.run(argv, cwd="/", env={}, timeout=300)
    assert (finished.stdout, finished.stderr) == (b"ran\n", b"")


def test_limited_command_gets_its_arguments_unchanged(wait_for: Callable[..., None]) -> None:
    started = limited(["/bin/sh", "-c", 'printf "%s|" "$0" "$@"', "--", "a b", "", "$x", "--"])
    try:
        assert spawn.run(started.argv, cwd="/", env={}, timeout=300).stdout == b"--|a b||$x|--|"
    finally:
        started.release()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_bubblewrap_limits_processes_for_a_user_without_control_groups(tmp_path: Path) -> None:
    """A user namespace counts its own processes only: those that the user has elsewhere do not matter."""
    python, bwrap = "/usr/bin/python3", shutil.which("bwrap")
    version = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]!r})"
    if bwrap is None or not os.path.exists(python) or subprocess.run([python, "-c", version]).returncode:
        cannot("another user needs bubblewrap and a Python of the system like this one")
    packages = Path(msgspec.__file__).parents[1]
    samuel = Path(limits.__file__).parents[3]
    if not all(os.stat(place).st_mode & 0o005 for path in (packages, samuel) for place in (path, *path.parents)):
        cannot("another user cannot read where Samuel is")
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        (place / "own").mkdir()
        for directory in (place, place / "own"):
            os.chown(directory, NOBODY, NOBODY)
        forks = "import os\nfor n in range(200):\n    os.fork() or os.read(0, 1) or os._exit(0)\n"
        code = f"""
import subprocess, sys
from samuel.process import spawn
from samuel.confine.walls.limits import ProcessLimits
from samuel.confine.walls.walls import *
others = [subprocess.Popen(["/bin/sleep", "600"]) for _ in range(40)]
try:
    argv = [{python!r}, "-I", "-S", "-c", {forks!r}]
    with walled(argv, GrantedPaths(), WallPlaces({str(place)!r}, {str(place / "own")!r}), kind="bwrap",
                limits=ProcessLimits(processes=30)) as command:
        done = spawn.run(command.argv, cwd="/", env={{}}, timeout=60, pass_fds=command.pass_fds)
    print(counts_processes(), done.returncode, done.stderr.decode().splitlines()[-1:])
finally:
    for other in others:
        other.kill()
        other.wait()
"""
        done = subprocess.run(
            [python, "-c", code],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd=place,
            env={
                "PATH": os.path.dirname(bwrap),
                "HOME": str(place),
                "PYTHONPATH": f"{samuel}:{packages}",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
        )
    finally:
        shutil.rmtree(place)
    assert done.stdout == "True 1 ['BlockingIOError: [Errno 11] Resource temporarily unavailable']\n", done.stderr
