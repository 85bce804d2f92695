"""After a sandboxed program ended: did it leave anything that would make git run something outside?

The state before is compared with the state after. What git would take from a place that the program could write,
and that is not harmless, goes to quarantine; a protected file that changed all the same is put back. That happens
when a program outside replaces a file that is mounted read-only inside: the mount goes with it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from samuel.base.printable import safe
from samuel.git import search as git_search
from samuel.git.config_files import GitFiles, leads_to
from samuel.git.quarantine import Quarantine
from samuel.git.search import GitSearch

MOST_REPORTS = 20
_LARGEST = 16 * 1024 * 1024  # of a file that can be put back


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
