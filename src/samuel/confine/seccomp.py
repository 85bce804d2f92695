"""System calls that a confined program is refused, as a filter that the kernel runs (seccomp, written in BPF).

Mounts and landlock rules are about files. Some system calls reach the user's things around them: the keyring,
other processes' limits and priorities, System V memory, the terminal's input. Others are a large part of the
kernel that a plugin has no use for. One filter refuses them, for bubblewrap and for landlock.

    with filter_file(PLUGIN, families) as fd:      # -1 where this machine's numbers are not known
        bwrap --seccomp FD ...

Arguments are compared by their low 32 bits: the kernel ignores the rest of a pid, a command or a family. Other
numberings of the same kernel (32-bit programs, x32) end the program or are refused, so they lead around nothing.
"""

from __future__ import annotations

import os
import platform
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

_EPERM, _ENOSYS, _EOPNOTSUPP = 1, 38, 95

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
INTERNET = (AF_INET, AF_INET6, AF_NETLINK)
"""Sockets for the network. Others lead elsewhere: AF_UNIX to programs of the user, AF_VSOCK to the virtual
machine's host, which no network namespace keeps out."""

_DATAGRAM = 2
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # type on the terminal; paste into a console
_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NEW_TIME = 0x80  # only for unshare: in clone these bits are a signal
_X32 = 0x40000000


class Architecture(NamedTuple):
    number: int
    """AUDIT_ARCH_*, by which the kernel says which numbers a call uses."""
    calls: Mapping[str, int]


# The numbers for x86_64, and those that all newer architectures share.
_NUMBERS = """
    add_key            248 217   |   msgctl              71 187   |   prlimit64          302 261
    request_key        249 218   |   semget              64 190   |   setpriority        141 140
    keyctl             250 219   |   semop               65 193   |   ioprio_set         251  30
    io_uring_setup     425 425   |   semctl              66 191   |   migrate_pages      256 238
    io_uring_enter     426 426   |   semtimedop         220 192   |   move_pages         279 239
    io_uring_register  427 427   |   mq_open            240 180   |   sched_setaffinity  203 122
    userfaultfd        323 282   |   mq_unlink          241 181   |   sched_setscheduler 144 119
    bpf                321 280   |   setxattr           188   5   |   sched_setparam     142 118
    perf_event_open    298 241   |   lsetxattr          189   6   |   sched_setattr      314 274
    process_madvise    440 440   |   fsetxattr          190   7   |   clone               56 220
    shmget              29 194   |   setxattrat         463 463   |   clone3             435 435
    shmat               30 196   |   removexattr        197  14   |   unshare            272  97
    shmctl              31 195   |   lremovexattr       198  15   |   setns              308 268
    msgget              68 186   |   fremovexattr       199  16   |   ioctl               16  29
    msgsnd              69 189   |   removexattrat      466 466   |   socket              41 198
    msgrcv              70 188   |   file_setattr       469 469   |   socketpair          53 199
    chmod               90   -   |   open                 2   -   |   mknod              133   -
    fchmod              91  52   |   openat             257  56   |   mknodat            259  33
    fchmodat           268  53   |   openat2            437 437   |   creat               85   -
    fchmodat2          452 452
"""
_CALLS = [cell.split() for line in _NUMBERS.strip().splitlines() for cell in line.split("|")]
_X86_64 = {name: int(number) for name, number, _ in _CALLS}
_GENERIC = {name: int(number) for name, _, number in _CALLS if number != "-"}
ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, _X86_64),
    "aarch64": Architecture(0xC00000B7, _GENERIC),
    "riscv64": Architecture(0xC00000F3, _GENERIC),
}

_KEYRING = ("add_key", "request_key", "keyctl")
_KERNEL = ("io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "bpf")
# System V objects belong to the user, not to a process: they stay when it ends, and others' can be reached.
_SYSTEM_V = (
    *("shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl"),
    *("semget", "semop", "semctl", "semtimedop", "mq_open", "mq_unlink"),
)
# For programs that copy files it is as if the file system had no extended attributes.
_ATTRIBUTES = (
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "file_setattr"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
)
_OF_A_PROCESS = (
    *("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"),
    *("migrate_pages", "move_pages"),
)
_MODES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
_FLAGS_AND_MODE = {"open": (1, 2), "openat": (2, 3)}  # the mode only means something for a file that is made
_MAKES_A_FILE, _SET_UID = 0x400040, 0o4000  # O_CREAT, O_TMPFILE; S_ISUID
_OF_WHOSE = {"setpriority": 2, "ioprio_set": 3}  # and what stands there for "all processes of this user"


class FilterProfile(NamedTuple):
    """What a filter refuses, in addition to other families of sockets and typing on a terminal."""

    refused: tuple[str, ...]
    unsupported: tuple[str, ...] = ()
    """Refused as something that this machine does not have."""
    itself_only: bool = False
    """Limits and priorities only of the calling process; no namespaces of its own; no program that others run with
    the user's rights (setuid), which would be one long after the walls are gone.
    """


PLUGIN = FilterProfile((*_KEYRING, *_KERNEL, "perf_event_open", "process_madvise", *_SYSTEM_V), _ATTRIBUTES, True)
AGENT = FilterProfile((*_KEYRING, *_KERNEL))
"""An agent needs namespaces for its own sandbox and for a browser's, and is in a pid namespace anyway."""


@contextmanager
def filter_file(profile: FilterProfile, families: Sequence[int]) -> Iterator[int]:
    """A descriptor to read the filter from, once; -1 where there is none for this machine."""
    program = filter_program(profile, tuple(families))
    if not program:
        yield -1
        return
    fd = os.memfd_create("samuel-seccomp")
    try:
        os.write(fd, program)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


@cache
def filter_program(profile: FilterProfile, families: tuple[int, ...], machine: str = platform.machine()) -> bytes:
    """The instructions, as the kernel takes them; b"" where the machine's numbers are not known."""
    architecture = ARCHITECTURES.get(machine)
    if architecture is None:
        return b""
    calls = architecture.calls
    instructions: list[_Instruction] = [
        *(_load(_ARCHITECTURE), _equal(architecture.number, 1, 0), _KILL),
        *(_load(_NUMBER), _at_least(_X32, 0, 1), _REFUSE),
        *(word for name in profile.refused for word in _when(calls[name], [_REFUSE])),
        *(word for name in profile.unsupported for word in _when(calls[name], [_error(_EOPNOTSUPP)])),
        *_when(calls["ioctl"], [_load(_argument(1)), _equal(_TIOCSTI, 1, 0), _equal(_TIOCLINUX, 0, 1), *_NO_YES]),
        *_when(calls["socket"], _one_of(families)),
    ]
    if AF_UNIX not in families:  # a pair is harmless, but for datagrams: those can be sent anywhere afterwards
        instructions += _when(
            calls["socketpair"], [_load(_argument(1)), (0x54, 0, 0, 0xF), _equal(_DATAGRAM, 0, 1), *_NO_YES]
        )
    if profile.itself_only:
        for name in _OF_A_PROCESS:  # 0 is the caller
            instructions += _when(calls[name], [_load(_argument(0)), _equal(0, 1, 0), *_NO_YES])
        for name, everybody in _OF_WHOSE.items():
            whose = [_load(_argument(0)), _equal(everybody, 2, 0), _load(_argument(1)), _equal(0, 1, 0)]
            instructions += _when(calls[name], [*whose, *_NO_YES])
        for name, flags in (("clone", _NAMESPACES), ("unshare", _NAMESPACES | _NEW_TIME)):
            instructions += _when(calls[name], [_load(_argument(0)), _any_bit(flags, 0, 1), *_NO_YES])
        instructions += _when(calls["setns"], [_REFUSE])
        for name in ("clone3", "openat2"):  # Their flags are in memory, where no filter looks. Callers fall back.
            instructions += _when(calls[name], [_error(_ENOSYS)])
        for name, mode in _MODES.items():
            if name in calls:
                instructions += _when(calls[name], [_load(_argument(mode)), _any_bit(_SET_UID, 0, 1), *_NO_YES])
        for name, (flags, mode) in _FLAGS_AND_MODE.items():
            if name in calls:
                creation = [_load(_argument(flags)), _any_bit(_MAKES_A_FILE, 0, 3)]
                creation += [_load(_argument(mode)), _any_bit(_SET_UID, 0, 1)]
                instructions += _when(calls[name], [*creation, *_NO_YES])
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in (*instructions, _ALLOW))


# Instructions of the filter: operation, jump if true, jump if false, operand

_Instruction = tuple[int, int, int, int]
_NUMBER, _ARCHITECTURE = 0, 4  # where in the kernel's record of a call


def _argument(index: int) -> int:
    return 16 + 8 * index


def _load(offset: int) -> _Instruction:
    return 0x20, 0, 0, offset


def _equal(value: int, yes: int, no: int) -> _Instruction:
    return 0x15, yes, no, value


def _at_least(value: int, yes: int, no: int) -> _Instruction:
    return 0x35, yes, no, value


def _any_bit(bits: int, yes: int, no: int) -> _Instruction:
    return 0x45, yes, no, bits


def _error(number: int) -> _Instruction:
    return 0x06, 0, 0, 0x00050000 | number


_ALLOW: _Instruction = (0x06, 0, 0, 0x7FFF0000)
_KILL: _Instruction = (0x06, 0, 0, 0x80000000)
_REFUSE = _error(_EPERM)
_NO_YES = (_REFUSE, _ALLOW)


def _when(number: int, steps: Sequence[_Instruction]) -> list[_Instruction]:
    """The steps for one system call. They must end in a verdict: the number is no longer loaded after them."""
    return [_equal(number, 0, len(steps)), *steps]


def _one_of(families: Sequence[int]) -> list[_Instruction]:
    checks = [_equal(family, len(families) - at, 0) for at, family in enumerate(families)]
    return [_load(_argument(0)), *checks, *_NO_YES]
