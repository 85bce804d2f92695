"""Walls of mounts: bubblewrap. What is not let through is not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from samuel.confine import bubblewrap, seccomp
from samuel.confine.walls.places import OpenedPath, WallPlaces, below, machine, shut

# What a bubblewrap can do, or an older one cannot.
BY_FD, FILTER, NO_NAMESPACES = "by fd", "filter", "no namespaces"
READ_ONLY_BY_FD = "--ro-bind-fd"
"""Without it places are let through by name."""
NO_NAMESPACES_WORDS = ("--unshare-user", "--disable-userns")
"""Not for root, who would lose the files of everybody else."""

# In a user namespace of its own, the user's other processes do not count. Of dash and others it is -p, of bash -u.
_COUNTED = 'ulimit -p "$1" 2>/dev/null || ulimit -u "$1" 2>/dev/null\nshift\nexec "$@"'

_TMP = "/tmp"


class Bubblewrap(NamedTuple):
    """The installed bubblewrap."""

    program: str  # "" when it does not work
    features: frozenset[str] = frozenset()
    why: str = ""


class WallRules(NamedTuple):
    """What is allowed inside, beside the granted paths."""

    network: bool
    visible: tuple[str, ...]
    """The paths of the machine that can be read."""
    processes: int
    """The most that there may be; it only holds with NO_NAMESPACES. 0: any number."""
    filter_fd: int
    """-1 without a filter of system calls."""


def command(
    bwrap: Bubblewrap,
    argv: Sequence[str],
    doors: Sequence[OpenedPath],
    inside: WallPlaces,
    rules: WallRules,
    *,
    stays: bool,
) -> list[str]:
    """The command that runs `argv` inside walls; with `stays`, also after the thread that starts it has ended."""
    network, visible, processes, filter_fd = rules
    no_namespaces = NO_NAMESPACES in bwrap.features
    root, own = os.path.realpath(inside.root), inside.own
    words = [bwrap.program, *base(), *(_resolver() if network else ("--unshare-net",))]
    words += NO_NAMESPACES_WORDS if no_namespaces else ()
    words += ("--seccomp", str(filter_fd)) if filter_fd >= 0 else ()
    if not stays:
        # It means the thread that starts it, not the process: a program that stays would end with that thread.
        words.append("--die-with-parent")
    host = _host(root, visible)
    places: dict[str, tuple[str, ...]] = {root: ("--dir", root), **host}
    if not any(below(own, place) for place in (*visible, *(door.path for door in doors))):
        places[own] = ("--symlink", os.path.realpath(own), own)  # if it is the real one, its door takes the place
    for door in doors:
        places[door.path] = _through(door, by_name=BY_FD not in bwrap.features)
    # Parents first: the nearest word about a path is the last.
    for path in sorted(places, key=lambda path: path.split("/")):
        words += places[path]
    # What is written where nothing was granted must fail, not vanish.
    for path in ("/", *(path for path in host if places[path][0] == "--tmpfs")):
        words += ("--remount-ro", path)
    counted = ("/bin/sh", "-c", _COUNTED, "sh", str(processes)) if processes and no_namespaces else ()
    return [*words, "--chdir", root, "--", *counted, *argv]


def families(network: bool) -> tuple[int, ...]:
    """The sockets it may have. In a network namespace of its own they lead nowhere; in the machine's, unix sockets
    that have no path lead to the user's other programs.
    """
    return seccomp.INTERNET if network else (seccomp.AF_UNIX, *seccomp.INTERNET)


@cache
def _host(root: str, visible: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """What is shown of the host, and what is emptied in the midst of that."""
    readable = [name for path in visible for name in (path, os.path.realpath(path))]
    emptied = shut(root, (*machine(), *readable, _TMP))
    needed = (path for path in readable if not _is_readable_already(path, readable, emptied))
    places: dict[str, tuple[str, ...]] = {path: ("--ro-bind-try", path, path) for path in needed}
    for path in emptied:
        places[path] = ("--tmpfs", path) if os.path.isdir(path) else ("--ro-bind", "/dev/null", path)
    return places


def _is_readable_already(path: str, readable: Sequence[str], emptied: Sequence[str]) -> bool:
    return any(
        below(path, other) and not any(below(gone, other) and below(path, gone) for gone in emptied)
        for other in (*machine(), *readable)
    )


@cache
def base() -> tuple[str, ...]:
    """What is the same for every plugin: the machine's programs, to read, and namespaces of its own."""
    words = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", _TMP]
    for path in machine():
        words += ("--symlink", os.readlink(path), path) if os.path.islink(path) else ("--ro-bind", path, path)
    return (*words, *bubblewrap.read_only_proc(), *bubblewrap.UNSHARE, *bubblewrap.drop_capabilities())


def _through(door: OpenedPath, *, by_name: bool) -> tuple[str, ...]:
    how = "--bind" if door.writable else "--ro-bind"
    return (how, door.path, door.path) if by_name else (f"{how}-fd", str(door.fd), door.path)


def _resolver() -> Iterator[str]:
    """Where the names of other machines are looked up: often a link into /run."""
    file = bubblewrap.resolver_file()
    if not any(below(file, place) for place in machine()):
        yield from ("--ro-bind-try", file, file)
