"""Starts programs within the walls of a plugin, one after another: run by `walls.warm` as text (`python -c`).

    python -I -S -c TEXT CONTROL FILTER CAPABILITIES

It imports nothing of Samuel's: of the machine it sees what its plugin sees, and its interpreter. It forks ahead: a
process that waits for the next call has its namespaces, a /tmp and a /dev/shm that nobody wrote to, its own /proc,
the filter of system calls, and no right to change any of that. It is the first process of a pid namespace, so
nothing that a call starts can outlive it, and the program of a call can neither see nor signal the launcher.

On CONTROL, a socket, it says `r` when it can start programs. A call is a length, a JSON list of the arguments and
the environment, and four descriptors: stdin, stdout, stderr and the call's own socket. On that one it answers with
the exit code as soon as the program ended, and with `.` when nothing of the call is left. `T` sends SIGTERM to all
processes of the call. The end of the socket kills them.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

_NEW_MOUNTS, _NEW_PIDS = 0x00020000, 0x20000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_SET_DUMPABLE, _SET_SECCOMP, _DROP_BOUNDING, _NO_NEW_PRIVS, _FILTER = 4, 22, 24, 38, 2
_INSTRUCTION = 8  # bytes of the filter
_KERNEL_SETTINGS = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
_TMP = "/tmp"
_MOUNTS = ("mounted directory", "mounted file")
_SIZE = 4  # bytes of a length, and of an exit code

Place = tuple[str, str, str]  # a path, `directory`, `link` or one of _MOUNTS, and the target of a link

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> NoReturn:
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    with open(int(sys.argv[2]), "rb") as file:
        instructions = file.read()
    os.closerange(3, control.fileno())  # whatever else came along: programs must not inherit it
    os.closerange(control.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
    capabilities = int(sys.argv[3])
    # What can be done once: mounts that nobody shares, and rights that no program can get by being started.
    _must(_libc.unshare(_NEW_MOUNTS))
    _mount("", "/", "", _REC | _PRIVATE)
    for capability in range(64):
        if not capabilities >> capability & 1 and _libc.prctl(_DROP_BOUNDING, capability, 0, 0, 0) < 0:
            break  # the kernel has no more of them
    _must(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    places = list(_places(_TMP))
    first = True
    while True:
        taken, take = os.pipe()
        if not (pid := os.fork()):
            try:
                # Only children get the new pid namespace. This process ends, and bubblewrap reaps its child.
                _must(_libc.unshare(_NEW_PIDS))
                if not os.fork():
                    _first_process(control, take, places, instructions, capabilities, first)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        os.close(take)
        if not os.read(taken, 1):  # it took no call, and has ended
            os._exit(0)
        os.close(taken)
        first = False


def _first_process(
    control: socket.socket,
    take: int,
    places: Sequence[Place],
    instructions: bytes,
    capabilities: int,
    first: bool,
) -> NoReturn:
    """The first process of a call's namespaces."""
    try:
        _make_private(places)
        _give_up_rights(instructions, capabilities)
        if first:
            control.sendall(b"r")
        argv, env, fds = _receive(control)
        # Whatever the program does to this process must not reach later calls. The next one may be prepared.
        control.close()
        os.write(take, b"t")
        os.close(take)
        _run(argv, env, fds[:3], socket.socket(fileno=fds[3]))
    finally:
        os._exit(1)


def _make_private(places: Sequence[Place]) -> None:
    """What a call could leave for the next one, anew: temporary files, and /proc of its own processes."""
    _must(_libc.unshare(_NEW_MOUNTS))
    mounts = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path, kind, _ in places if kind in _MOUNTS}
    for directory in (_TMP, "/dev/shm"):
        _mount("tmpfs", directory, "tmpfs", _NOSUID | _NODEV, "mode=0755")
    for path, kind, target in places:
        if kind in ("directory", "mounted directory"):
            os.mkdir(path, 0o755)
        elif kind == "mounted file":
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
        else:
            os.symlink(target, path)
        if kind in _MOUNTS:
            _mount(f"/proc/self/fd/{mounts[path]}", path, "", _BIND | _REC)
            os.close(mounts[path])
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    for path in _KERNEL_SETTINGS:
        if os.access(path, os.W_OK):
            _mount(path, path, "", _BIND)
            _mount("", path, "", _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV | _NOEXEC)


def _places(directory: str) -> Iterator[Place]:
    """What bubblewrap made in its /tmp: the plugin's project may lie there. Nothing else was written yet."""
    device = os.stat(_TMP).st_dev
    with os.scandir(directory) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                yield entry.path, "link", os.readlink(entry.path)
            elif status.st_dev != device:
                yield entry.path, _MOUNTS[0 if stat.S_ISDIR(status.st_mode) else 1], ""
            elif stat.S_ISDIR(status.st_mode):
                yield entry.path, "directory", ""
                yield from _places(entry.path)


def _give_up_rights(instructions: bytes, capabilities: int) -> None:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)(capabilities, capabilities, 0, 0, 0, 0)  # effective, permitted, inheritable
    _must(_libc.capset(header, sets))
    _must(_libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0))  # the program must not get at this process by /proc or ptrace
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // _INSTRUCTION, ctypes.cast(buffer, ctypes.c_void_p))
    _must(_libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.c_void_p))


def _receive(control: socket.socket) -> tuple[list[str], dict[str, str], list[int]]:
    """The next call. Ends this process if there is none: the other end of the socket is closed."""
    data, fds, _, _ = socket.recv_fds(control, _SIZE, 4)
    for fd in fds:
        os.set_inheritable(fd, False)  # the program gets copies of three of them
    data += _exactly(control, _SIZE - len(data))
    argv, env = json.loads(_exactly(control, int.from_bytes(data, "little")))
    return argv, env, fds


def _exactly(control: socket.socket, size: int) -> bytes:
    text = b""
    while len(text) < size:
        chunk = control.recv(size - len(text))
        if not chunk:
            os._exit(0)
        text += chunk
    return text


def _run(argv: list[str], env: dict[str, str], fds: list[int], call: socket.socket) -> NoReturn:
    ended, wake_up = os.pipe()
    os.set_blocking(wake_up, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_up, warn_on_full_buffer=False)
    try:
        # A group of its own, so that `kill 0` does not reach this process. Not a session: the scheduler would put
        # each program into a group of its own, which costs more than the rest of the start.
        script = os.posix_spawn(
            argv[0],
            argv,
            env,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(fds)],
            setpgroup=0,
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
        )
    except OSError as error:  # as bubblewrap reports it
        os.write(fds[2], f"bwrap: execvp {argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        script = 0
        call.sendall((1).to_bytes(_SIZE, "little"))
    for fd in fds:
        os.close(fd)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(call, select.POLLIN)
    while _any_left(script, call):
        for fd, _ in poll.poll():
            if fd == ended:
                os.read(ended, 4096)
            elif call.recv(1) == b"T":
                _signal_all(signal.SIGTERM)
            else:
                poll.unregister(call)
                _signal_all(signal.SIGKILL)
    call.sendall(b".")
    os._exit(0)


def _any_left(script: int, call: socket.socket) -> bool:
    """Reap what ended, and tell how the program did; False when no process is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if not pid:
            return True
        if pid == script:
            code = os.waitstatus_to_exitcode(status)
            call.sendall((code if code >= 0 else 128 - code).to_bytes(_SIZE, "little"))


def _signal_all(signum: int) -> None:
    """All processes of the namespace but this one get it at once, so none can fork its way out."""
    try:
        os.kill(-1, signum)
    except ProcessLookupError:
        pass


def _mount(source: str, place: str, kind: str, flags: int, options: str = "") -> None:
    words = [word.encode() or None for word in (source, place, kind)]
    _must(_libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None))


def _must(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main()
