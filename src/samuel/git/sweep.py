"""After a sandboxed program ended: did it leave anything that would make git run something outside?

The state before is compared with the state after. What git would take from a place that the program could write,
and that is not harmless, goes to quarantine; a protected file that changed all the same is put back. That happens
when a program outside replaces a file that is mounted read-only inside: the mount goes with it.

The state before is also on disk, outside of the project, where no sandboxed program can write: a Samuel that was
killed meanwhile could not compare with it, and the next one does.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import UnsafePath
from samuel.base.printable import safe, shell_word
from samuel.files import atomic
from samuel.files.inside import open_inside
from samuel.git import search as git_search
from samuel.git.config_files import GitFiles, leads_to
from samuel.git.search import GitSearch

MOST_REPORTS = 20
_LARGEST = 16 * 1024 * 1024  # of a file that can be put back
DIRECTORY = "sandboxes"
CONTENT = "content"
EXPLANATION = "README.txt"
_HEAD, _NO_HEAD = "HEAD", "HEAD.quarantined"  # without the first, no git takes a directory for a repository
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class KeptFile(msgspec.Struct, frozen=True):
    """A file as it was: its content, or where it leads. Neither, and it was not there."""

    exists: bool = False
    content: bytes = b""
    mode: int = 0
    link: str = ""
    whole: bool = True
    """Whether this is enough to make it again."""


class GitState(msgspec.Struct, frozen=True):
    """What git would have found below a project at one moment."""

    directories: dict[str, str]
    """Each git directory with a digest of what in it is dangerous; "" for nothing."""
    files: dict[str, str]
    links: dict[str, str]
    contents: dict[str, KeptFile]
    """The files that git takes configuration from, outside of directories that are mounted."""


def look(search_result: GitSearch, files: GitFiles) -> GitState:
    links = dict(search_result.links)
    directories = {}
    for directory, irregular in search_result.directories.items():
        links |= irregular
        directories[directory] = _digest(directory, irregular, files.own)
    watched = [*(path for path in files.read_only if not os.path.isdir(path)), *files.watched]
    return GitState(directories, search_result.files, links, {path: _snapshot(path) for path in watched})


class Sweep:
    """One look at what changed, and what is done about it."""

    def __init__(self, root: Path, files: GitFiles, before: GitState, quarantine: Quarantine) -> None:
        self._root = root
        self._files = files
        self._before = before
        self._quarantine = quarantine
        self._reports: list[str] = []

    def run(self, search_result: GitSearch) -> list[str]:
        """Put everything right; gives what to tell the owner."""
        for path, before in self._before.contents.items():
            self._put_back(path, before)
        for directory in self._files.own:
            self._own_directory(directory, search_result.directories.get(directory, {}))
        for path, what in search_result.links.items():
            if self._before.links.get(path) != what:
                self._take(path, "it leads git to another place")
        for path, content in search_result.files.items():
            if self._before.files.get(path) != content and (why := self._leads_elsewhere(path, search_result)):
                self._take(path, why)
        # The innermost first: what is moved away holds nothing any more that has to be moved.
        for directory in sorted(set(search_result.directories) - set(self._files.own), key=len, reverse=True):
            self._other_directory(directory, search_result.directories[directory])
        for directory in search_result.unread:
            self._reports.append(
                f"`{safe(directory, keep='')}` cannot be read: it was not searched for git directories"
            )
        more = len(self._reports) - MOST_REPORTS
        return [
            *self._reports[:MOST_REPORTS],
            *([f"… and {more} more, all in the quarantine"] if more > 0 else []),
        ]

    def _own_directory(self, directory: str, irregular: dict[str, str]) -> None:
        """Git writes through a link that it finds here, to wherever that leads."""
        for path, what in irregular.items():
            if self._before.links.get(path) != what:
                self._take(path, "git would write to where it leads")
        if _digest(directory, {}, self._files.own) not in ("", self._before.directories.get(directory)):
            self._take(os.path.join(directory, "rebase-merge"), "an unfinished rebase that runs commands")

    def _other_directory(self, directory: str, irregular: dict[str, str]) -> None:
        if _digest(directory, irregular, self._files.own) == self._before.directories.get(directory, ""):
            if directory in self._before.directories or not self._files.follows_any_work_tree:
                return
            why = "your configuration takes hooks or programs from whatever work tree git is in"
        else:
            reasons = git_search.dangers(directory, irregular)
            why = f"git would take from it {', '.join(reasons[:3])}{' and more' if reasons[3:] else ''}"
        self._take(directory, why)

    def _leads_elsewhere(self, path: str, search_result: GitSearch) -> str:
        """Why a new file called `.git` must go; "" if it leads to a git directory that is judged by itself."""
        target = leads_to(path, search_result.files[path])
        if target in search_result.directories and target not in self._files.own:
            return ""
        return "it leads git to a git directory that is not its own"

    def _put_back(self, path: str, before: KeptFile) -> None:
        now = _snapshot(path)
        is_own_config = os.path.basename(path) == "config" and os.path.dirname(path) in self._files.own
        if now == before or (is_own_config and _only_harmless(before, now)):
            return
        if now.exists or os.path.lexists(path):
            self._take(path, "git takes configuration or a program from it, and it changed during the sandbox")
        if before.exists and before.whole:
            self._quarantine.restore(self._base(path), path, before.content, before.mode, before.link)

    def _take(self, path: str, why: str) -> None:
        self._reports.append(self._quarantine.take(self._base(path), path, why))

    def _base(self, path: str) -> Path:
        inside = (Path(place) for place in self._files.own if path.startswith(f"{place}/"))
        return self._root if path.startswith(f"{self._root}/") else next(inside, self._root)


def _digest(directory: str, irregular: dict[str, str], own: Sequence[str]) -> str:
    if directory in own:  # its settings and hooks are mounted; this is what is left
        commands = git_search.rebase_commands(directory)
        return hashlib.sha256(b"\n".join(commands)).hexdigest() if commands else ""
    return git_search.fingerprint(directory, irregular) if git_search.dangers(directory, irregular) else ""


def _snapshot(path: str) -> KeptFile:
    try:
        own = os.lstat(path)
        if stat.S_ISLNK(own.st_mode):
            return KeptFile(True, link=os.readlink(path))
        if not stat.S_ISREG(own.st_mode):
            return KeptFile(True, mode=own.st_mode, whole=False)
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError:
        return KeptFile()
    if len(content) > _LARGEST:
        return KeptFile(True, repr((own.st_size, own.st_mtime_ns, own.st_ino)).encode(), whole=False)
    return KeptFile(True, content, stat.S_IMODE(own.st_mode))


def _only_harmless(before: KeptFile, now: KeptFile) -> bool:
    """Whether a configuration only got harmless settings, such as a branch that was added outside meanwhile."""
    if not (before.exists and now.exists) or before.link or now.link:
        return False
    old, new = git_search.settings_of(before.content), git_search.settings_of(now.content)
    if old is None or new is None:
        return False
    return all(git_search.is_harmless(*setting) for setting in set(new) ^ set(old))


class Baseline:
    """The state before a sandboxed program, on disk."""

    def __init__(self, cache: Path | None, root: Path) -> None:
        digest = hashlib.sha256(str(root).encode(errors="surrogateescape")).hexdigest()
        writable = cache is None or cache.resolve().is_relative_to(root)  # a home that is the project
        self._file = None if cache is None or writable else cache / DIRECTORY / f"{digest[:32]}.json"

    def load(self) -> GitState | None:
        """What was saved and not removed."""
        if self._file is None:
            return None
        try:
            return convert(json.loads(self._file.read_bytes()), GitState)
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def save(self, state: GitState) -> None:
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Names may be no UTF-8, which only this module can write down and read again.
            atomic.write_bytes(self._file, json.dumps(msgspec.to_builtins(state)).encode(), 0o600, durable=False)

    def remove(self) -> None:
        if self._file is not None:
            with suppress(FileNotFoundError):
                self._file.unlink()


class Quarantine:
    """Where things go that an agent left and that git must not see: out of the way, and not lost.

    A directory of the project that agents cannot write. Each thing in it has an entry of its own.
    """

    def __init__(self, root: Path, directory: Path) -> None:
        self._root = root
        self._directory = directory

    def take(self, base: Path, path: str, why: str) -> str:
        """Move what is at `path`, below `base`, away; gives what to tell its owner.

        No link on the way is followed: another agent may still be at work elsewhere in the project.
        """
        name = self._printable_path(path)
        try:
            parent = _open_parent(base, path)
        except (OSError, UnsafePath):
            return f"`{name}` ({why}) could not be moved away: do not run git there before you looked at it"
        try:
            moved, restore = self._move(parent, path)
        except OSError as error:
            reason = error.strerror or str(error)
            return f"`{name}` ({why}) could not be moved away: {reason}; do not run git there before you looked"
        finally:
            os.close(parent)
        return f"`{name}` was moved to `{self._printable_path(moved)}`: {why}; `{restore}` puts it back"

    def restore(self, base: Path, path: str, content: bytes, mode: int, link: str) -> None:
        """Make what was at `path` before, after `take`."""
        with suppress(OSError, UnsafePath):
            parent = _open_parent(base, path)
            try:
                name = os.path.basename(path)
                if link:
                    os.symlink(link, name, dir_fd=parent)
                    return
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                with open(os.open(name, flags, mode, dir_fd=parent), "wb") as file:
                    file.write(content)
            finally:
                os.close(parent)

    def _move(self, parent: int, path: str) -> tuple[str, str]:
        """Where it is now, and the command that puts it back."""
        entry = self._new_entry()
        fd = os.open(entry, _DIRECTORY)
        name, moved = os.path.basename(path), str(entry / CONTENT)
        try:
            os.rename(name, CONTENT, src_dir_fd=parent, dst_dir_fd=fd)
        except OSError as error:
            if error.errno != errno.EXDEV:
                with suppress(OSError):
                    entry.rmdir()
                raise
            # Another file system: it stays where it is, under a name that git does not know.
            other = f"{name}.quarantined-{entry.name}"
            os.rename(name, other, src_dir_fd=parent, dst_dir_fd=parent)
            moved = os.path.join(os.path.dirname(path), other)
        finally:
            os.close(fd)
        restore = f"mv {shell_word(self._printable_path(moved))} {shell_word(self._printable_path(path))}"
        with suppress(OSError):  # a file, or a directory without one
            os.rename(os.path.join(moved, _HEAD), os.path.join(moved, _NO_HEAD))
            head = shell_word(self._printable_path(os.path.join(moved, _NO_HEAD)))
            restore = f"mv {head} {shell_word(self._printable_path(os.path.join(moved, _HEAD)))} && {restore}"
        with suppress(OSError):
            (entry / EXPLANATION).write_text(f"was: {self._printable_path(path)}\nto put it back: {restore}\n")
        return moved, restore

    def _new_entry(self) -> Path:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        number = 1
        while True:
            entry = self._directory / f"{stamp}-{number}"
            with suppress(FileExistsError):
                entry.mkdir(mode=0o700)
                return entry
            number += 1

    def _printable_path(self, path: str) -> str:
        inside = path.startswith(f"{self._root}/")
        return safe(os.path.relpath(path, self._root) if inside else path)


def _open_parent(base: Path, path: str) -> int:
    parent = os.path.relpath(os.path.dirname(path), base)
    return os.open(base, _DIRECTORY) if parent == "." else open_inside(base, parent, flags=_DIRECTORY)
