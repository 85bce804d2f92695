"""Walls around the processes of a plugin: it reaches what it was granted, and nothing else of the user's.

    with walled(argv, GrantedPaths(read=("docs",)), WallPlaces(root, own, data)) as command:
        spawn.run(command.argv, cwd=root, env=..., pass_fds=command.pass_fds)

The best that the machine has is used: mounts of its own (bubblewrap), else rules that the kernel holds a process
to (landlock), else nothing. `strength` says which, and what is missing to make the walls tight.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from samuel.confine import bubblewrap, seccomp
from samuel.confine.walls import bwrap as walls_bwrap
from samuel.confine.walls import landlock as walls_landlock
from samuel.confine.walls.bwrap import BY_FD, FILTER, NO_NAMESPACES, READ_ONLY_BY_FD, Bubblewrap
from samuel.confine.walls.limits import DEFAULT, ProcessLimits, limited
from samuel.confine.walls.places import GrantedPaths, WallPlaces, opened
from samuel.process import environment, spawn
from samuel.process.output import failure

BWRAP, LANDLOCK, NONE = "bwrap", "landlock", "none"
_TRIAL = 60.0  # a busy machine must not look like one without walls

_GAPS = {
    BY_FD: "a symbolic link swapped in at the instant a plugin starts may lead a granted path elsewhere: this "
    "bubblewrap has no --bind-fd",
    FILTER: "it can read the user's kernel keyring, and use every system call of the kernel: they cannot be "
    "filtered here",
}


class WalledCommand(NamedTuple):
    """What to start within the walls: the first two are for `spawn`."""

    argv: list[str]
    pass_fds: tuple[int, ...]
    release: Callable[[], None]
    """For what `stays`: to be called when every process of it has ended."""


class Strength(NamedTuple):
    kind: str
    """bwrap, landlock or none."""
    gaps: tuple[str, ...] = ()
    """What this machine cannot hold a plugin to, in plain words."""
    why: str = ""
    """Why it is not bubblewrap, and what would help."""


@contextmanager
def walled(
    argv: Sequence[str],
    allowed: GrantedPaths,
    inside: WallPlaces,
    *,
    visible: Sequence[str] = (),
    stays: bool = False,
    kind: str = "",
    limits: ProcessLimits = DEFAULT,
) -> Iterator[WalledCommand]:
    """The command that runs `argv` within the walls, for as long as this context lasts: start it before it ends.

    `visible` are places of the host that the program needs to read, such as where its interpreter is installed.
    `stays` is for a process that outlives the thread that starts it. `kind` asks for other walls than the best.
    Raises NotGranted (a NotRunnable) when a granted place is not what it should be, such as a symbolic link.
    """
    kind = kind or strength().kind
    with _commanded(argv, allowed, inside, tuple(visible), stays, kind, limits.processes) as (words, fds):
        started = limited(words, limits)
        try:
            yield WalledCommand(started.argv, fds, started.release)
        except BaseException:
            started.release()
            raise
        if not stays:
            started.release()


@contextmanager
def _commanded(
    argv: Sequence[str],
    allowed: GrantedPaths,
    inside: WallPlaces,
    visible: tuple[str, ...],
    stays: bool,
    kind: str,
    processes: int,
) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    with opened(allowed, inside) as doors:
        if kind == NONE:
            yield list(argv), ()
            return
        wall = walls_landlock if kind == LANDLOCK else walls_bwrap
        with seccomp.filter_file(seccomp.PLUGIN, wall.families(allowed.network)) as fd:
            filter_fd = fd if _filtered(kind) else -1
            if kind == LANDLOCK:
                words = walls_landlock.command(
                    argv, doors, inside.root, network=allowed.network, visible=visible, filter_fd=filter_fd
                )
            else:
                installed = _bwrap(_path())
                rules = walls_bwrap.WallRules(allowed.network, visible, processes, filter_fd)
                words = walls_bwrap.command(installed, argv, doors, inside, rules, stays=stays)
            filter_fds = (filter_fd,) if filter_fd >= 0 else ()
            yield words, (*(door.fd for door in doors), *filter_fds)


def counts_processes() -> bool:
    """Do the walls themselves limit the number of processes, also without control groups?"""
    return NO_NAMESPACES in _bwrap(_path()).features


def strength() -> Strength:
    """What this machine has for walls. Really tried, once in a process."""
    return _strength(_path())


@cache
def _strength(path: str) -> Strength:
    installed = _bwrap(path)
    if installed.program:
        return Strength(BWRAP, tuple(gap for feature, gap in _GAPS.items() if feature not in installed.features))
    version, filtered = _landlock()
    if version:
        return Strength(LANDLOCK, walls_landlock.gaps(version, filtered), installed.why)
    return Strength(NONE, ("nothing here holds a plugin's processes to what they were granted",), installed.why)


@cache
def _landlock() -> tuple[int, bool]:
    return walls_landlock.try_it()


def _filtered(kind: str) -> bool:
    return _landlock()[1] if kind == LANDLOCK else FILTER in _bwrap(_path()).features


def _path() -> str:
    return os.environ.get("PATH") or environment.DEFAULT_PATH


@cache
def _bwrap(path: str) -> Bubblewrap:
    program = bubblewrap.find_program(path)
    if not program:
        return Bubblewrap("", why=f"bubblewrap is not installed ({bubblewrap.INSTALL})")
    root = os.open("/", os.O_RDONLY | os.O_CLOEXEC)
    try:
        with seccomp.filter_file(seccomp.PLUGIN, walls_bwrap.families(network=False)) as filter_fd:
            features: dict[str, tuple[str, ...]] = {BY_FD: (READ_ONLY_BY_FD, str(root), "/tmp/samuel")}
            if filter_fd >= 0:
                features[FILTER] = ("--seccomp", str(filter_fd))
            if os.geteuid() != 0:
                features[NO_NAMESPACES] = walls_bwrap.NO_NAMESPACES_WORDS

            def works_with(*names: str) -> str:
                if filter_fd >= 0:
                    os.lseek(filter_fd, 0, os.SEEK_SET)
                words = [word for name in names for word in features[name]]
                return _try(program, words, root, *((filter_fd,) if filter_fd >= 0 else ()))

            if not works_with(*features):
                return Bubblewrap(program, frozenset(features))
            if why := works_with():
                return Bubblewrap("", why=f"bubblewrap does not work on this machine: {why}")
            return Bubblewrap(program, frozenset(name for name in features if not works_with(name)))
    finally:
        os.close(root)


def _try(program: str, words: Sequence[str], *pass_fds: int) -> str:
    argv = [program, *walls_bwrap.base(), "--unshare-net", *words, "--", "/bin/sh", "-c", ":"]
    return failure(spawn.run(argv, cwd="/", env=environment.clean(), timeout=_TRIAL, pass_fds=pass_fds))
