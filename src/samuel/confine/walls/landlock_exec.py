"""Puts the kernel's rules (landlock) on itself and becomes the program: run by `walls.landlock` as a file.

    python -I -S landlock_exec.py '{"rules": [...], "network": false, "close": [5], "filter": 6}' program ...
    python -I -S landlock_exec.py                        prints the version of the rules that this kernel has

It imports nothing of Samuel's, for it starts once a call. What it sets up stays through `execve` and for all
children, and cannot be taken back: landlock for files, TCP and signals, and the filter of system calls that it
reads from a descriptor (`seccomp`). Root loses its capabilities, since they reach around files.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys
from typing import Any, NoReturn

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_PATH_BENEATH, _VERSION = 1, 1
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ALL = ((1 << 13) - 1, REFER, TRUNCATE, 0, IOCTL_DEV)  # what each version of the rules added
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_READ = EXECUTE | READ_FILE | READ_DIR
_TCP = 0b11  # from version 4: bind, connect
_SCOPES = 0b11  # from version 6: abstract unix sockets, signals

_CAP_DAC_OVERRIDE = 1
_INSTRUCTION = 8  # bytes of the filter

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> NoReturn:
    version = _libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION)
    if len(sys.argv) == 1:
        print(max(version, 0))
        sys.exit()
    request, program = json.loads(sys.argv[1]), sys.argv[2:]
    handled = sum(_ALL[:version])
    rules = _ruleset(version, handled, request["network"])
    for rule in request["rules"]:
        _let_through(rules, handled, *rule)
    _drop_capabilities()
    _must(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))  # also: what was dropped stays dropped for root
    _must(_libc.syscall(_RESTRICT, rules, 0))
    if request["filter"] >= 0:
        _filter(request["filter"])
    os.close(rules)
    for fd in request["close"]:
        os.close(fd)
    try:
        os.execvp(program[0], program)
    except OSError as error:
        sys.exit(f"`{program[0]}` cannot be started here: {error.strerror}")


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("fd", ctypes.c_int32))


def _ruleset(version: int, handled: int, network: bool) -> int:
    attributes = _Ruleset(handled, 0 if network else _TCP, _SCOPES)
    size = 8 if version < 4 else 16 if version < 6 else 24  # the kernel refuses what it does not know
    return _must(_libc.syscall(_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), 0))


def _let_through(rules: int, handled: int, place: str | int, writable: bool, without: list[str]) -> None:
    """A rule for a path or an open descriptor; `without` are paths below it that it does not hold for."""
    try:
        fd = os.open(place, os.O_PATH | os.O_CLOEXEC) if isinstance(place, str) else os.dup(place)
    except OSError:
        return  # not there: nothing to let through
    try:
        if writable and without:  # to read, it holds for those too
            _rule(rules, fd, handled & _READ)
        _all_but(rules, fd, handled if writable else handled & _READ, without)
    finally:
        os.close(fd)


def _all_but(rules: int, fd: int, rights: int, without: list[str]) -> None:
    """Rules hold for whole trees. To leave something out, its neighbours are named, on each level down to it."""
    if not without:
        _rule(rules, fd, rights)
        return
    for name in os.listdir(f"/proc/self/fd/{fd}"):
        further = [path.partition("/")[2] for path in without if path.partition("/")[0] == name]
        if "" in further:
            continue
        try:
            child = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        except OSError:
            continue
        try:
            if not stat.S_ISLNK(os.fstat(child).st_mode):
                _all_but(rules, child, rights, further)
        finally:
            os.close(child)


def _rule(rules: int, fd: int, rights: int) -> None:
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        rights &= _OF_FILES
    attributes = _PathBeneath(rights, fd)
    _must(_libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(attributes), 0))


def _drop_capabilities() -> None:
    if os.geteuid() != 0:
        return
    capability = 1 << _CAP_DAC_OVERRIDE  # to work on other users' files, where it was granted any
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)(
        capability, capability, 0, 0, 0, 0
    )  # effective, permitted, inheritable: low, then high
    _must(_libc.capset(header, sets))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.c_void_p))


def _filter(fd: int) -> None:
    with open(fd, "rb") as file:
        instructions = ctypes.create_string_buffer(file.read())
    program = _Program(len(instructions) // _INSTRUCTION, ctypes.cast(instructions, ctypes.c_void_p))
    _must(_libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0))


def _must(result: Any) -> int:
    """Without its rules the program is not started."""
    if result < 0:
        sys.exit(f"the rules for a plugin could not be set: {os.strerror(ctypes.get_errno())}")
    return int(result)


if __name__ == "__main__":
    main()
