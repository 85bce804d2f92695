"""Unfinished changes to a plugins directory: made beside the installed plugins, and put into place by renaming.

A command may be killed at any instruction. Until it has saved its decision, its work is thrown away; from then on
the next command finishes it. The decision is a samuel.lock inside the staging directory:

    .staging-<random>/lock          held by the command for as long as it lives
                      new/org@repo  complete, not in its place yet
                      old/org@repo  what it replaced, until all is in place
                      gone/org@repo what was removed
                      samuel.lock   the new entries; missing: nothing was decided

A clone may bring such a directory along, so it is opened without following links, and finishing it records no
agreement: a plugin put into place this way is refused until the user trusts it.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from samuel.base import paths
from samuel.base.errors import ConfigError, Locked, UnsafePath, UsageError
from samuel.files import atomic
from samuel.files.inside import exists_at, make_dirs_inside, open_inside, read_inside
from samuel.files.lock import held
from samuel.plugins import lock
from samuel.plugins.installed import directory_of
from samuel.plugins.lock import LockedPlugin
from samuel.plugins.source import check_title

PREFIX, TRASH = ".staging-", ".trash-"
HELD, NEW, OLD, GONE = "lock", "new", "old", "gone"
LINE = "plugins/"
MAX_BYTES = 1 << 20
_EQUIVALENT = (LINE, "plugins", "/plugins", "/plugins/", "*")


@contextmanager
def begin(plugins: Path) -> Iterator[Path]:
    """A new staging directory, removed afterwards. To be entered with the plugins directory locked."""
    directory = plugins / f"{PREFIX}{secrets.token_hex(6)}"
    for part in (directory, directory / NEW, directory / OLD, directory / GONE):
        part.mkdir(mode=0o755)
    with held(directory / HELD):
        try:
            yield directory
        finally:
            # A decision that could not be finished is left for the next command.
            if not (directory / paths.LOCK).exists():
                _throw_away(directory)


def decide(directory: Path, entries: Mapping[str, LockedPlugin]) -> None:
    """Save the decision: from here on these are installed, even if this process is killed."""
    lock.write(directory / paths.LOCK, entries)


def finish(directory: Path, lock_file: Path) -> None:
    """Put the decided plugins into place, whatever was done already. To be called with the directory locked."""
    decided, locked = lock.read(directory / paths.LOCK), lock.read(lock_file)
    names = [directory_of(check_title(name)) for name in decided]
    with _opened(directory) as (plugins, new, old):
        for name in names:
            _swap(name, plugins, new, old)
    lock.write(lock_file, {**locked, **decided})
    (directory / paths.LOCK).unlink()


def repair(plugins: Path, lock_file: Path) -> None:
    """Finish or remove the work of commands that were killed. To be called with the directory locked."""
    for name in sorted(os.listdir(plugins)):
        directory = plugins / name
        if name.startswith(TRASH):
            shutil.rmtree(directory, ignore_errors=True)
        if not name.startswith(PREFIX) or directory.is_symlink() or not directory.is_dir():
            continue
        # If it is gone in the meantime, its command has finished.
        with suppress(Locked, UnsafePath, FileNotFoundError), held(directory / HELD):
            if (directory / paths.LOCK).is_file():
                # A file that cannot be read was not written by Samuel: nothing was decided.
                with suppress(ConfigError, UsageError, UnsafePath, FileNotFoundError):
                    finish(directory, lock_file)
            _move_back(directory)
            _throw_away(directory)


def discard(directory: Path, plugin: Path) -> None:
    """Move a plugin, or the link to one, out of its place; its files are deleted with the staging directory."""
    os.rename(plugin, directory / GONE / plugin.name)


def _throw_away(directory: Path) -> None:
    """Renamed before it is deleted, so that a half deleted directory is not taken for an unfinished change."""
    trash = directory.with_name(f"{TRASH}{secrets.token_hex(6)}")
    os.rename(directory, trash)
    shutil.rmtree(trash, ignore_errors=True)


def _swap(name: str, plugins: int, new: int, old: int) -> None:
    if not exists_at(new, name):
        return  # done before we were interrupted
    if exists_at(plugins, name):
        os.rename(name, name, src_dir_fd=plugins, dst_dir_fd=old)
    os.rename(name, name, src_dir_fd=new, dst_dir_fd=plugins)


def _move_back(directory: Path) -> None:
    """Move back the plugins that were moved away and not replaced."""
    with suppress(UnsafePath, FileNotFoundError), _opened(directory) as (plugins, _, old):
        for name in os.listdir(old):
            if not exists_at(plugins, name) and not name.startswith("."):
                os.rename(name, name, src_dir_fd=old, dst_dir_fd=plugins)


@contextmanager
def _opened(directory: Path) -> Iterator[tuple[int, int, int]]:
    """The plugins directory, and `new` and `old` of a staging directory in it, none of them through a link."""
    top, stage = directory.parent, directory.name
    with ExitStack() as opened:
        plugins = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.callback(os.close, plugins)
        new = open_inside(top, stage, NEW, flags=os.O_RDONLY | os.O_DIRECTORY)
        opened.callback(os.close, new)
        old = make_dirs_inside(top, stage, OLD)
        opened.callback(os.close, old)
        yield plugins, new, old


def ignore_plugins(root: Path) -> None:
    """Add `plugins/` to the project's `.samuel/.gitignore`, unless a line there covers it."""
    directory = make_dirs_inside(root, paths.HOME, mode=0o755)
    try:
        try:
            text = read_inside(root, paths.HOME, ".gitignore", limit=MAX_BYTES).decode(errors="surrogateescape")
        except FileNotFoundError:
            text = ""
        if not any(line.strip() in _EQUIVALENT for line in text.split("\n")):
            gap = "\n" if text and not text.endswith("\n") else ""
            atomic.write_at(directory, ".gitignore", f"{text}{gap}{LINE}\n".encode(errors="surrogateescape"))
    finally:
        os.close(directory)
