"""Bubblewrap: the same machine, seen through other mounts. Starts in milliseconds; Linux only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from samuel.confine import bubblewrap, seccomp
from samuel.confine.sandbox import mounts
from samuel.confine.sandbox.request import Command, SandboxRequest, Workspace, volumes
from samuel.process import environment, spawn
from samuel.process.output import failure

# Everything is there to read and nothing to write. /run and /tmp are where other programs of the user listen
# on sockets (containers, the session bus, ssh-agent), and a socket can be talked to on a read-only file system.
_HIDDEN = ("/tmp", "/var/tmp", "/run")
_MADE_ANEW = ("/dev", "/proc")
_READ_ONLY_ROOT = ("--remount-ro", "/")  # after all mounts, whose targets may have to be created
_TRIAL = 60.0  # a busy machine must not look like one without walls


@contextmanager
def confined(
    argv: Sequence[str], sandbox: SandboxRequest, place: Workspace, env: Mapping[str, str]
) -> Iterator[Command]:
    with mounts.hold(place) as held, _filter() as (filter_words, filter_fds):
        words = [_program(place) or "bwrap", *_machine(), *bubblewrap.UNSHARE, *filter_words, "--die-with-parent"]
        for path in (*place.visible, bubblewrap.resolver_file(), *_home(env)):
            if is_hidden(os.path.realpath(path)):
                words += ("--ro-bind-try", path, path)
        for private in place.private:
            words += _private(*private)
        for path in place.readable:
            words += ("--ro-bind", path, path)
        for mount in held:
            words += ("--bind" if mount.writable else "--ro-bind", mount.path, mount.path)
        for volume in volumes(sandbox, place):
            words += ("--bind" if volume.writable else "--ro-bind", volume.source, volume.target)
        if not sandbox.network:
            words.append("--unshare-net")
        words += (*_READ_ONLY_ROOT, "--chdir", os.path.realpath(place.root), "--", *argv)
        yield Command(words, dict(env), filter_fds)


def missing(sandbox: SandboxRequest, place: Workspace) -> str:
    program = _program(place)
    if program is None:
        return f"the sandbox `bwrap` needs the program `bwrap` ({bubblewrap.INSTALL})"
    with _filter() as (filter_words, filter_fds):
        words = [program, *_machine(), *bubblewrap.UNSHARE, *filter_words, "--die-with-parent"]
        tried = spawn.run(
            [*words, *_READ_ONLY_ROOT, "--", "/bin/sh", "-c", ":"],
            cwd="/",
            env=environment.clean(base=place.host),
            timeout=_TRIAL,
            pass_fds=filter_fds,
        )
    problem = failure(tried)
    return f"`bwrap` does not work on this machine: {problem}" if problem else ""


@contextmanager
def _filter() -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """The words for the filter of system calls, and the descriptors that they name."""
    with seccomp.filter_file(seccomp.AGENT, (seccomp.AF_UNIX, *seccomp.INTERNET)) as fd:
        yield (("--seccomp", str(fd)), (fd,)) if fd >= 0 else ((), ())


def _machine() -> list[str]:
    """The words for the machine's files. Each entry of `/` is mounted by itself and not `/` as a whole: container
    engines mount and unmount below /run all the time, and a mount that vanishes makes bubblewrap fail."""
    words: list[str] = []
    with os.scandir("/") as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_symlink():
                words += ("--symlink", os.readlink(entry.path), entry.path)
            elif entry.path not in (*_HIDDEN, *_MADE_ANEW):
                words += ("--ro-bind-try", entry.path, entry.path)
    words += ("--dev", "/dev", "--proc", "/proc", *bubblewrap.read_only_proc())
    for path in _HIDDEN:
        if os.path.isdir(path) and not os.path.islink(path):
            words += ("--tmpfs", path)
    return [*words, *bubblewrap.drop_capabilities()]


def _private(path: str, visible_files: tuple[str, ...]) -> list[str]:
    # A mount needs a directory to be put on; the program itself would make it at its first start.
    os.makedirs(path, mode=0o700, exist_ok=True)
    words = ["--tmpfs", path]
    for name in visible_files:
        file = os.path.join(path, name)
        words += ("--ro-bind-try", file, file)
    return words


def _home(env: Mapping[str, str]) -> tuple[str, ...]:
    """The home directory is readable wherever it lies: the user's own hooks and the agent's settings are in it."""
    home = env.get("HOME", "")
    return (os.path.realpath(home),) if os.path.isabs(home) else ()


def is_hidden(path: str) -> bool:
    """Whether a path is where the sandbox has an empty directory of its own."""
    return path.startswith(tuple(f"{hidden}/" for hidden in _HIDDEN))


def _program(place: Workspace) -> str | None:
    return bubblewrap.find_program(place.host.get("PATH", "")) or None
