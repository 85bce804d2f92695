"""The clone in which a machine works for coordinators: one that its owner made, or one that Samuel keeps there."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

from samuel.base.errors import Locked, SamuelError
from samuel.base.paths import User
from samuel.base.printable import shell_word
from samuel.files.lock import held
from samuel.git import worktrees
from samuel.git.git import Git, GitFailed
from samuel.git.transport import RefMissing, RemoteRepository, TransferFailed, is_shallow, remote_of
from samuel.workspaces.fleet.patience import patiently
from samuel.workspaces.fleet.refusal import MachineRefused
from samuel.workspaces.fleet.rule_files import differing, rule_digests
from samuel.workspaces.fleet.wire import MachineRequest

FLEET = "fleet"  # in the user's state
LOCK_WAIT = 900.0  # seconds that another attempt may take to fetch


class FleetClone:
    def __init__(self, user: User, environment: Mapping[str, str], request: MachineRequest) -> None:
        """Find the clone that a request is about, or make it. Raises MachineRefused."""
        self._request = request
        self.is_ours = not request.directory
        self._own = _own_directory(user, request)
        self._own.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.top = self._own / _name(request.url) if self.is_ours else _directory(request.directory, user.home)
        self._lock = self._own / "lock"
        if self.is_ours and not (self.top / ".git").is_dir():
            self._make(environment)
        self.git = Git(self.top, environment)
        if not self.git.is_repository:
            hint = f"`git clone URL {shell_word(self.top)}` makes it, or leave the directory out of the place"
            raise MachineRefused("directory", f"`{self.top}` is not a git repository", hint)
        self.top = self.git.top
        self.root = self.top / request.prefix
        try:
            url = request.url if self.is_ours else remote_of(self.git, request.remote).url
        except SamuelError as error:
            raise MachineRefused("remote", error.message, error.hint) from None
        if is_shallow(self.git):
            raise MachineRefused(
                "directory", f"`{self.top}` is a shallow clone", "`git fetch --unshallow` completes it"
            )
        self.remote = RemoteRepository(self.git, self._own / "transfers", url)

    @staticmethod
    def is_there(user: User, request: MachineRequest) -> bool:
        """Whether there is a clone for this request, or one that its owner says to have made."""
        return bool(request.directory) or (_own_directory(user, request) / _name(request.url) / ".git").is_dir()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others from fetching into the clone and from changing its rules."""
        with held(self._lock, wait=LOCK_WAIT, note="samuel attempt"):
            yield

    def fetch(self) -> None:
        """Fetch what the attempt needs, unless it is there. Raises MachineRefused if the remote is away."""
        with self.alone():
            commits = sorted({self._request.base, *self._request.needed.values()})
            if not self._has(commits):
                self.remote.knows(self.git.head())
                refspecs = [f"+{ref}:{ref}" for ref in self._request.needed]
                try:
                    patiently(lambda: self.remote.fetch(refspecs), lambda: self._request.patience)
                except RefMissing as error:  # a run that is over has no refs there
                    raise MachineRefused("remote", error.message, "is the run over?", lasting=False) from None
                except TransferFailed as error:
                    raise MachineRefused("remote", error.message, error.hint, lasting=False) from None
            if not self._has(commits):
                raise MachineRefused(
                    "remote",
                    f"the remote `{self._request.remote}` of `{self.top}` does not have {self._request.base[:12]}",
                    "let the clone have the same remote as the coordinator",
                    lasting=self.is_ours is False,
                )

    @contextmanager
    def rules(self) -> Iterator[None]:
        """Make the rules those of the coordinator, in a clone of ours, and lock them meanwhile.

        Raises MachineRefused if they differ, or if another run works by the rules that are there.
        """
        with ExitStack() as use:
            with self.alone():
                self._require_rules()
                if self.is_ours:
                    use.enter_context(self._used())
            yield

    def _require_rules(self) -> None:
        request = self._request
        if self.is_ours and (not self.root.is_dir() or differing(request.rules, rule_digests(self.root))):
            if self._is_used():
                raise MachineRefused(
                    "rules",
                    f"another run works in `{self.root}` by other rules",
                    "wait for its end",
                    lasting=False,
                )
            worktrees.write(self.git, "checkout", "--quiet", "--force", "--detach", request.base)
        names = differing(request.rules, rule_digests(self.root)) if self.root.is_dir() else "all of them"
        if not names:
            return
        hint = (
            "commit the files at the coordinator: a machine gets what is committed"
            if self.is_ours
            else f"`git -C {shell_word(self.top)} pull` brings what is committed at the coordinator"
        )
        raise MachineRefused("rules", f"the rules in `{self.root}` are not those of the run: {names}", hint)

    def _is_used(self) -> bool:
        for lock in self._own.glob("use-*.lock"):
            try:
                with held(lock):
                    pass
            except Locked:
                return True
        return False

    @contextmanager
    def _used(self) -> Iterator[None]:
        """Let others see that an attempt works by the rules that are there. The lock of the clone is held."""
        for number in count(1):
            with ExitStack() as lock:
                try:
                    lock.enter_context(held(self._own / f"use-{number}.lock", note="samuel attempt"))
                except Locked:
                    continue
                yield
                return

    def _has(self, commits: list[str]) -> bool:
        try:
            self.git.run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{commits[0]}^{{tree}}")
            for commit in commits[1:]:
                self.git.run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{commit}^{{tree}}")
        except GitFailed:
            return False
        return True

    def _make(self, environment: Mapping[str, str]) -> None:
        with held(self._lock, wait=LOCK_WAIT, note="samuel attempt"):
            if (self.top / ".git").is_dir():
                return
            self.top.mkdir(exist_ok=True, mode=0o700)
            building = Git(self.top, environment)
            building.call(["init", "--quiet", "--template="])
            building.call(["remote", "add", self._request.remote, self._request.url])


def _own_directory(user: User, request: MachineRequest) -> Path:
    """What Samuel has on this machine for a clone: locks, transfers, and the clone itself if it is Samuel's."""
    digest = hashlib.sha256(f"{request.url}\0{request.directory}".encode()).hexdigest()[:16]
    return user.state / FLEET / digest


def _name(url: str) -> str:
    """What the clone is called: the last word of the URL."""
    word = url.rstrip("/").removesuffix(".git").rpartition("/")[2].rpartition(":")[2]
    return re.sub(r"[^A-Za-z0-9._-]", "-", word).lstrip(".-") or "clone"


def _directory(text: str, home: Path) -> Path:
    path = home / text[2:] if text.startswith("~/") else Path(text)
    if not os.path.isdir(path):
        hint = f"`git clone URL {shell_word(path)}` makes it, or leave the directory out of the place"
        raise MachineRefused("directory", f"`{path}` does not exist on this machine", hint)
    return path
