"""System calls that reach around walls, each made for real by a process within them, for each kind of walls.

A call that the filter refuses says EPERM (or, for extended attributes, that there are none). A control outside of
the walls shows that the same call means something on this machine.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.confine.test_walls import Project, cannot

from samuel.confine import seccomp
from samuel.confine.seccomp import AGENT, ARCHITECTURES, INTERNET, PLUGIN, filter_program
from samuel.confine.walls import landlock as walls_landlock
from samuel.confine.walls import walls
from samuel.confine.walls.places import GrantedPaths, WallPlaces
from samuel.confine.walls.walls import BWRAP, LANDLOCK

if platform.machine() not in ARCHITECTURES:
    pytest.skip("NOT TESTED: the numbers of this machine are not known", allow_module_level=True)

CALLS = ARCHITECTURES[platform.machine()].calls
LIBRARY = "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True)\n"
HELD = LIBRARY + (
    "def call(number, *arguments):\n"
    "    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]\n"
    "    result = libc.syscall(ctypes.c_long(number), *words)\n"
    "    print(result if result >= 0 else -ctypes.get_errno())\n"
)


@pytest.fixture(params=[BWRAP, LANDLOCK])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    if request.param == BWRAP and walls.strength().kind != BWRAP:
        cannot(walls.strength().why)
    if request.param == LANDLOCK and not walls_landlock.try_it()[0]:
        cannot("this kernel has no landlock")
    return Project(tmp_path, request.param)


@pytest.fixture
def victim() -> Iterator[int]:
    """Another process of the user's."""
    process = subprocess.Popen(["/bin/sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


def answer(project: Project, expression: str, allowed: GrantedPaths = GrantedPaths()) -> int:  # noqa: B008
    """What the kernel says to a call within the walls: a number that is not negative, or minus an errno."""
    finished = project.python(f"{HELD}call({expression})", allowed)
    assert finished.returncode == 0, finished.stderr
    return int(finished.stdout)


REFUSED = {
    "add_key": "b'user', b'samuel-test', b'secret', 6, -3",
    "request_key": "b'user', b'samuel-test', None, -3",
    "keyctl": "0, -3, 0, 0, 0",
    "io_uring_setup": "1, ctypes.create_string_buffer(120)",
    "userfaultfd": "1",
    "bpf": "0, ctypes.create_string_buffer(128), 128",
    "perf_event_open": "ctypes.create_string_buffer(128), 0, -1, -1, 0",
    "shmget": "0x5a31, 4096, 0o1600",
    "shmat": "0, None, 0",
    "shmctl": "0, 2, ctypes.create_string_buffer(256)",
    "msgget": "0x5a31, 0o1600",
    "semget": "0x5a31, 1, 0o1600",
    "mq_open": "b'samuel-test', 0o101, 0o600, None",
    "unshare": "0x10000000",
    "setns": "0, 0",
    "clone": "0x10000011, 0, 0, 0, 0",
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.sampled(every=3)
def test_a_plugin_is_refused_calls_that_reach_around_files(project: Project, name: str) -> None:
    assert answer(project, f"{CALLS[name]}, {REFUSED[name]}") == -errno.EPERM


def test_a_key_of_the_users_session_is_not_read_by_a_plugin(project: Project) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    session = -3
    if libc.syscall(CALLS["keyctl"], 1, None) < 0:  # a session keyring of this process, for its children too
        cannot(f"this machine has no keyring: {os.strerror(ctypes.get_errno())}")
    key = libc.syscall(CALLS["add_key"], b"user", b"samuel-test", b"secret", ctypes.c_size_t(6), session)
    assert key >= 0
    read_key = f"{CALLS['keyctl']}, 11, {key}, ctypes.create_string_buffer(6), 6, 0"
    outside = subprocess.run([sys.executable, "-c", f"{HELD}call({read_key})"], capture_output=True, check=True)
    assert int(outside.stdout) == len("secret")
    assert answer(project, read_key) == -errno.EPERM


def test_plugin_cannot_change_limits_of_another_process(project: Project, victim: int) -> None:
    before = resource.prlimit(victim, resource.RLIMIT_CPU)
    limits = "(ctypes.c_ulong * 2)(0, 0), None"
    assert answer(project, f"{CALLS['prlimit64']}, {victim}, 0, {limits}") == -errno.EPERM
    assert resource.prlimit(victim, resource.RLIMIT_CPU) == before
    assert answer(project, f"{CALLS['prlimit64']}, 0, 4, {limits}") == 0  # its own may be lowered


OTHERS = {
    "setpriority": ("0, {}, 19", "0, 0, 19"),  # lower than that of the tests, which may run under `nice`
    "ioprio_set": ("1, {}, 7 | 2 << 13", "1, 0, 7 | 2 << 13"),
    "sched_setaffinity": (
        "{}, 128, ctypes.create_string_buffer(b'\\xff' * 128)",
        "0, 128, ctypes.create_string_buffer(b'\\xff' * 128)",
    ),
    "sched_setscheduler": ("{}, 0, ctypes.byref(ctypes.c_int(0))", "0, 0, ctypes.byref(ctypes.c_int(0))"),
    "sched_setparam": ("{}, ctypes.byref(ctypes.c_int(0))", "0, ctypes.byref(ctypes.c_int(0))"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_plugin_cannot_change_priorities_of_another_process(project: Project, victim: int, name: str) -> None:
    others, own = OTHERS[name]
    assert answer(project, f"{CALLS[name]}, {others.format(victim)}") == -errno.EPERM
    assert answer(project, f"{CALLS[name]}, {own}") == 0


@pytest.mark.parametrize(("name", "all_of_user"), [("setpriority", 2), ("ioprio_set", 3)])
def test_plugin_cannot_change_priorities_of_all_processes_of_the_user(
    project: Project, name: str, all_of_user: int
) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    assert answer(project, f"{CALLS[name]}, {all_of_user}, 0, 19") == -errno.EPERM
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_plugin_leaves_no_system_v_objects_behind(project: Project) -> None:
    before = Path("/proc/sysvipc/shm").read_text(), Path("/proc/sysvipc/msg").read_text()
    for name in ("shmget", "msgget", "semget"):
        answer(project, f"{CALLS[name]}, {REFUSED[name]}")
    assert (Path("/proc/sysvipc/shm").read_text(), Path("/proc/sysvipc/msg").read_text()) == before


def test_plugin_cannot_change_extended_attributes_of_user_files(project: Project) -> None:
    file = project.file("src/code.py")
    expression = f"{CALLS['setxattr']}, {str(file)!r}.encode(), b'user.samuel', b'x', 1, 0"
    assert answer(project, expression) in (-errno.EOPNOTSUPP, -errno.ENOENT)
    try:
        assert not os.listxattr(file)
    except OSError:
        cannot("the file system of the tests has no extended attributes")


def test_plugin_can_copy_files_with_modes_and_times(project: Project) -> None:
    script = f"echo x > {project.data}/a && chmod 700 {project.data}/a && cp -p {project.data}/a {project.data}/b"
    finished = project.sh(script)
    assert finished.returncode == 0, finished.stderr
    assert (project.data / "b").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "attempt",
    [
        "os.chmod(path, 0o4755)",
        "os.fchmod(os.open(path, os.O_RDONLY), 0o4755)",
        "os.open(path + '2', os.O_CREAT | os.O_WRONLY, 0o4755)",
        "os.open(os.path.dirname(path), os.O_TMPFILE | os.O_WRONLY, 0o4755)",
        "os.mknod(path + '2', 0o4755)",
    ],
)
@pytest.mark.sampled(every=3)
def test_plugin_cannot_make_a_program_setuid(project: Project, attempt: str) -> None:
    """It would be one for every user of the machine, long after the walls are gone."""
    path = project.data / "program"
    assert project.works(f"cp /bin/true {path}")
    finished = project.python(f"import os; path = {str(path)!r}; {attempt}")
    assert b"PermissionError" in finished.stderr
    assert not any(file.stat().st_mode & stat.S_ISUID for file in project.data.iterdir())
    assert project.works(f"chmod 750 {path} && chmod u+x {path} && {path}")


def test_plugin_cannot_type_on_a_terminal(project: Project) -> None:
    for command in ("0x5412", "0x541C", "(1 << 32) + 0x5412"):
        assert (
            answer(project, f"{CALLS['ioctl']}, 0, {command}, ctypes.create_string_buffer(b'x')") == -errno.EPERM
        )


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("family", [40, 38, 31])  # virtual machines' sockets, kernel crypto, bluetooth
def test_plugin_cannot_open_sockets_of_other_families(project: Project, network: bool, family: int) -> None:
    allowed = GrantedPaths(network=network)
    assert answer(project, f"{CALLS['socket']}, {family}, 1, 0", allowed) == -errno.EPERM


def test_a_unix_socket_without_a_path_leads_to_no_program_of_the_user(project: Project) -> None:
    name = f"\0samuel-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
        for network in (False, True):
            assert project.python(code, GrantedPaths(network=network)).returncode != 0


def test_plugin_can_start_threads_and_processes(project: Project) -> None:
    """clone3, which cannot be looked into, is refused as missing: libraries fall back."""
    code = (
        "import threading, subprocess, os\n"
        "threads = [threading.Thread(target=os.getpid) for _ in range(3)]\n"
        "[one.start() for one in threads]; [one.join() for one in threads]\n"
        "print(subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout)"
    )
    finished = project.python(code)
    assert finished.stdout == b"b'x\\n'\n", finished.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x86_64 has these numberings")
def test_other_numberings_of_system_calls_do_not_bypass_the_filter(project: Project) -> None:
    x32 = CALLS["keyctl"] | 0x40000000
    assert answer(project, f"{x32}, 0, -3, 0, 0, 0") in (-errno.EPERM, -errno.ENOSYS)
    # keyctl (288) by the 32-bit entry: mov eax, 288; mov ebx, 0; mov ecx, -3; int 0x80; ret
    machine_code = b"\x53\xb8\x20\x01\x00\x00\xbb\x00\x00\x00\x00\xb9\xfd\xff\xff\xff\xcd\x80\x5b\xc3"
    code = (
        "import ctypes, mmap\n"
        "memory = mmap.mmap(-1, 4096, prot=7)\n"
        f"memory.write({machine_code!r})\n"
        "address = ctypes.addressof(ctypes.c_char.from_buffer(memory))\n"
        "print(ctypes.CFUNCTYPE(ctypes.c_int)(address)())"
    )
    outside = subprocess.run([sys.executable, "-c", code], capture_output=True)
    if outside.returncode == 0 and int(outside.stdout) < 0:
        cannot("this kernel runs no 32-bit programs")
    inside = project.python(code)
    assert inside.returncode != 0  # ended by the kernel at the first such call
    assert inside.stdout == b""


def test_the_filter_is_in_force_in_every_child(project: Project) -> None:
    code = f"{HELD}import sys; os.fork() and os.wait(); call({CALLS['keyctl']}, 0, -3, 0, 0, 0)"
    assert set(project.python(code).stdout.split()) == {b"-1"}


def test_bubblewrap_without_seccomp_support_reports_its_gap(tmp_path: Path) -> None:
    """One that cannot filter is used without, and the gap is named."""
    if walls.strength().kind != BWRAP:
        cannot(walls.strength().why)
    program = tmp_path / "bwrap"
    refuse = 'for word in "$@"; do case $word in --seccomp) echo "Unknown option" >&2; exit 1;; esac; done'
    program.write_text(f'#!/bin/sh\n{refuse}\nexec {shutil.which("bwrap")} "$@"\n')
    program.chmod(0o755)
    code = "from samuel.confine.walls.walls import *; print(strength().kind, *strength().gaps)"
    env = {**os.environ, "PATH": str(tmp_path)}
    process = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert process.stdout.startswith("bwrap it can read the user's kernel keyring")


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("profile", [PLUGIN, AGENT])
def test_every_jump_of_the_filter_ends_at_a_verdict(machine: str, profile: seccomp.FilterProfile) -> None:
    for families in ((), INTERNET, (seccomp.AF_UNIX, *INTERNET)):
        program = filter_program(profile, families, machine)
        words = [program[at : at + 8] for at in range(0, len(program), 8)]
        assert len(program) % 8 == 0
        for at, word in enumerate(words):
            operation = int.from_bytes(word[:2], sys.byteorder)
            if operation & 0x07 == 0x05:
                assert at + 1 + max(word[2], word[3]) < len(words)
        assert int.from_bytes(words[-1][:2], sys.byteorder) == 0x06


def test_unknown_architecture_has_no_filter() -> None:
    assert filter_program(PLUGIN, (), "vax") == b""


def test_the_walls_of_a_project_are_given_the_filter(project: Project) -> None:
    with walls.walled(
        ["/bin/true"], GrantedPaths(), WallPlaces(str(project.root), str(project.root)), kind=project.kind
    ) as it:
        assert len(it.pass_fds) == 2  # the plugin's own directory, and the filter
