"""Git as Samuel runs it: looking at a repository never runs a program the repository names.

A repository that came as an archive brings its own `.git/config`, and an agent can write one. Git then starts, for
a plain `git status`: a file system monitor, hooks, clean filters; for others: external diffs, text converters,
signature checkers, and a transport for objects that a partial clone lacks. All of these are switched off here.
Filters have names of their own, so they are looked up first and overridden one by one.

The repository is the one that was found first: an agent that makes another one, or a file that leads git
elsewhere, changes nothing. A commit is made as its owner set git up, with their filters and signature, and
without hooks unless the user trusts them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.files.regular import open_regular
from samuel.files.survey import Signature, signature, signature_if_exists
from samuel.git import hardening
from samuel.git import settings as git_settings
from samuel.git.hardening import git_program, path_outside
from samuel.git.output import GitCommit, GitStatus, GitStatusEntry, parse_log, parse_status
from samuel.git.settings import GitSetting
from samuel.process import spawn
from samuel.process.spawn import Finished

__all__ = ["HEADS", "Git", "GitCommit", "GitFailed", "GitStatus", "GitStatusEntry", "WorkTreeState", "branch_ref"]

TIMEOUT = 60.0
OUTPUT_LIMIT = 512 * 1024 * 1024  # the names of a few million files
STATUS = ("--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=all", "--no-renames")
OLDEST = (2, 31)  # the first that reads GIT_CONFIG_COUNT: an older one would ignore what we switch off


HEADS = "refs/heads/"


def branch_ref(name: str) -> str:
    """The ref of a branch."""
    return f"{HEADS}{name}"


class GitFailed(SamuelError):
    """Git was not found, is too old, or failed."""


class WorkTreeState(NamedTuple):
    """How a work tree was at one moment; `changed_since` compares with it."""

    head: str
    differing: dict[str, Signature]
    """Every path that git reports as changed or untracked, with what tells whether it changes again."""


class GitOptions(TypedDict, total=False):
    """What few calls of git need."""

    stdin: bytes
    env: Mapping[str, str]
    """All variables, in place of those with which git reads."""
    cwd: str
    own: Path
    """A git directory of Samuel's: its index and settings count, with the repository's objects."""


class Git:
    """One repository, seen from `root`, which may be a directory inside its work tree."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._root = root
        # GIT_DIR or GIT_CONFIG_PARAMETERS would name another repository, or undo the hardening.
        passed = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._program = git_program(passed, root)
        self.owner_environment = {**passed, "PATH": path_outside(passed, root)}
        self.reading_environment = {**self.owner_environment, **hardening.ENVIRONMENT}
        self._location: RepositoryLocation | None = None
        self._filters: tuple[dict[str, Signature], list[str]] | None = None
        self._holding = False
        self._held: GitStatus | None = None

    @cached_property
    def available(self) -> bool:
        try:
            return self.version() >= OLDEST
        except GitFailed:
            return False

    def version(self) -> tuple[int, int]:
        """The version of git. Raises GitFailed."""
        output = self.call(["version"])
        if match := re.search(rb"(\d+)\.(\d+)", output):
            return int(match[1]), int(match[2])
        printed = output.decode(errors="replace").strip()
        raise GitFailed(f"`git version` printed `{printed}`", "install git 2.38 or newer")

    @property
    def is_repository(self) -> bool:
        """Whether the root is in a work tree."""
        if self._location is None and self.available:  # asked again while it is none: an agent may make one
            self._location = self._find()
        return self._location is not None

    @property
    def root(self) -> Path:
        """The directory that paths are relative to."""
        return self._root

    @property
    def top(self) -> Path:
        """The top of the work tree: the root or above it."""
        return self.location().top

    @property
    def index_file(self) -> Path:
        """What `git add` and `git commit` replace: the same file means the same index."""
        return self.location().directory / "index"

    def run(self, *args: str, timeout: float = TIMEOUT) -> bytes:
        """What a git command printed. Raises GitFailed. For reading only: no filter and no hook takes part."""
        command, *rest = args
        self.location()
        off = {**hardening.SETTINGS, **hardening.without_filters(self.filter_drivers())}
        return self.call([command, *hardening.OPTIONS.get(command, ()), *rest], off, timeout)

    def settings(self, file: str = "") -> list[GitSetting]:
        """The configuration, or one file of it; a later setting overrides an earlier one.

        In no repository it is the user's and the machine's. A broken `.git` would be an error there.
        """
        source = ["--file", file] if file else ["--includes"]
        arguments = ["config", *source, *git_settings.LISTING]
        return git_settings.parse(self.call(arguments, cwd="" if self.is_repository else "/"))

    def hooks_directory(self) -> Path:
        """Where git looks for hooks: `core.hooksPath`, relative to the top of the work tree, or its own place."""
        value = git_settings.value_of(self.settings(), "core.hookspath")
        place = self.location()
        return place.top / git_settings.expanded(value, self.home) if value else place.shared / "hooks"

    @property
    def home(self) -> str:
        """What `~` means in a configuration."""
        return self.reading_environment.get("HOME") or "/"

    def head(self) -> str:
        """The commit that is checked out; "" before the first one."""
        try:
            return self.run("rev-parse", "--verify", "--quiet", "HEAD").decode().strip()
        except GitFailed:
            return ""

    def branch(self) -> str:
        """The branch that is checked out; "" if none is."""
        try:
            return (
                self.run("symbolic-ref", "--quiet", "--short", "HEAD").decode("utf-8", "surrogateescape").strip()
            )
        except GitFailed:
            return ""

    def head_message(self) -> tuple[str, str]:
        """The commit that is checked out, and its message; both "" before the first one."""
        try:
            output = self.run("log", "-1", "--format=%H%n%B").decode("utf-8", "replace")
        except GitFailed:
            return "", ""
        head, _, message = output.partition("\n")
        return head, message

    def files(self) -> list[str]:
        """Tracked files and those that are neither tracked nor ignored. A tracked one may be missing on disk."""
        output = self.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
        return [os.fsdecode(name) for name in output.split(b"\0")[:-1] if not name.endswith(b"/")]

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """What is asked in here is of one moment: on a large repository `status` is most of what a look costs."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
            self._held = None

    def status(self) -> GitStatus:
        if self._held is not None:
            return self._held
        status = self._status()
        if self._holding:
            self._held = status
        return status

    def _status(self) -> GitStatus:
        prefix = self.location().prefix
        return parse_status(self.run("status", *STATUS, *(("--", ".") if prefix else ())), prefix)

    def log(self, count: int) -> list[GitCommit]:
        """The newest commits that touched something at or below the root."""
        here = ("--", ".") if self.location().prefix else ()
        try:
            # A commit begins after empty fields; neither its first line nor a name can be one.
            output = self.run(
                *("log", "-z", f"--max-count={count}", "--name-only", "--relative", "--no-renames", "--no-notes"),
                *("--encoding=UTF-8", "--format=tformat:%x00%x00%h %cs %s", *here),
            )
        except GitFailed:
            if not self.head():  # git calls a repository without commits broken
                return []
            raise
        return parse_log(output)

    def work_tree(self) -> WorkTreeState:
        """How it is now, for `changed_since` later."""
        status = self.status()
        return WorkTreeState(
            status.head, {entry.path: _signature(self._root / entry.path) for entry in status.entries}
        )

    def changed_since(self, before: WorkTreeState) -> list[str]:
        """The paths whose content or presence changed since then, committed or not; ignored files are not seen."""
        now = self.work_tree()
        paths = before.differing.keys() | now.differing.keys()
        changed = {path for path in paths if before.differing.get(path) != now.differing.get(path)}
        if before.head != now.head:
            old, new = before.head or self.empty_tree(), now.head or self.empty_tree()
            output = self.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--relative", old, new)
            changed |= {os.fsdecode(name) for name in output.split(b"\0")[:-1]}
        return sorted(changed)

    def empty_tree(self) -> str:
        """The name of the tree without any file."""
        return self.run("hash-object", "-t", "tree", "/dev/null").decode().strip()

    def location(self) -> RepositoryLocation:
        """Where the repository is. Raises GitFailed if there is none."""
        if self.is_repository and self._location is not None:
            return self._location
        if not self.available:
            oldest = ".".join(map(str, OLDEST))
            raise GitFailed(f"git {oldest} or newer was not found", "install it, or put it on PATH")
        raise GitFailed(f"`{safe(str(self._root))}` is not in a git work tree", "make one with `git init`")

    def _find(self) -> RepositoryLocation | None:
        try:
            # The directory comes last: its name may hold line breaks.
            output = self.call(["rev-parse", "--is-inside-work-tree", "--show-cdup", "--absolute-git-dir"])
        except GitFailed:
            return None
        inside, up, directory = output.split(b"\n", 2)
        if inside != b"true":
            return None
        below = os.fsencode(os.path.realpath(self._root)).split(b"/")
        prefix = b"".join(name + b"/" for name in below[len(below) - up.count(b"../") :])
        own = Path(os.fsdecode(directory.removesuffix(b"\n")))
        top = Path(os.path.normpath(os.path.join(os.path.realpath(self._root), os.fsdecode(up))))
        return RepositoryLocation(own, shared_directory(own), top, prefix)

    def filter_drivers(self) -> list[str]:
        """The names of the filter drivers in any configuration file."""
        signatures = self._filters[0] if self._filters else {}
        is_same = all(signature_if_exists(file) == before for file, before in signatures.items())
        if self._filters is None or not is_same:
            self._filters = self._find_filters(self.location().directory)
        return self._filters[1]

    def _find_filters(self, directory: Path) -> tuple[dict[str, Signature], list[str]]:
        """The drivers' names, and the files they stand in: while these stay the same, so do the names."""
        files = configuration_files(directory, self.reading_environment)
        signatures = {str(file): signature_if_exists(file) for file in files}
        settings = self.settings()
        if any(setting.key.startswith(("include.", "includeif.")) for setting in settings):
            # What is included may appear, or come to apply, with none of these files touched: look each time.
            signatures[""] = (-1,)
        for setting in settings:
            signatures.setdefault(setting.origin, signature_if_exists(setting.origin))
        return signatures, sorted(git_settings.filters(settings))

    def call(
        self,
        args: list[str],
        off: Mapping[str, str] = hardening.SETTINGS,
        timeout: float = TIMEOUT,
        **options: Unpack[GitOptions],
    ) -> bytes:
        """What git printed. Raises GitFailed for any exit code but 0. `off` are the settings that it gets."""
        done = self.finished(args, off, timeout, **options)
        if done.ended == "exited" and done.returncode == 0:
            return done.stdout
        stderr = re.sub("^fatal: ", "", done.stderr.decode(errors="replace").strip(), flags=re.MULTILINE)
        problem = done.why or stderr or f"exit code {done.returncode}"
        if done.ended == "timed_out":
            problem = f"stopped after {timeout:g}s"
        where = f"`git {safe(args[0])}` in `{safe(str(self._root))}`"
        raise GitFailed(f"{where} failed: {problem}", "run the same command by hand to see more")

    def finished(
        self, args: list[str], off: Mapping[str, str], timeout: float, **options: Unpack[GitOptions]
    ) -> Finished:
        """How git ended. Every git in a project is started here: by its path, in the repository found first."""
        variables = {**options.get("env", self.reading_environment), **hardening.configured(off)}
        if self._location is not None:
            directory, shared, top, _ = self._location
            if shared_directory(directory) != shared:  # for refs, git believes this file more than the variable
                raise GitFailed(
                    f"`{safe(str(directory))}/commondir` leads git to another repository now",
                    "look at that file: nothing but `git worktree add` should write it",
                )
            variables |= {"GIT_DIR": str(directory), "GIT_COMMON_DIR": str(shared), "GIT_WORK_TREE": str(top)}
            if own := options.get("own"):
                variables |= {"GIT_DIR": str(own), "GIT_COMMON_DIR": str(own), "HOME": str(own)}
                variables |= {"XDG_CONFIG_HOME": str(own), "GIT_CONFIG_NOSYSTEM": "1"}
                variables |= {"GIT_OBJECT_DIRECTORY": str(shared / "objects"), "GIT_NO_REPLACE_OBJECTS": "1"}
        if not self._program:
            raise GitFailed(hardening.NOT_FOUND, "install it, or put it on PATH")
        return spawn.run(
            [self._program, "--no-pager", *args],
            cwd=options.get("cwd") or str(self._root),
            env=variables,
            stdin=options.get("stdin", b""),
            timeout=timeout,
            output_limit=OUTPUT_LIMIT,
        )


def _signature(path: Path) -> Signature:
    """The signature of a file or of a link itself: what git has of a link is where it leads."""
    try:
        return signature(os.lstat(path))
    except OSError:
        return ()


LONGEST_PATH = 1 << 16


class RepositoryLocation(NamedTuple):
    directory: Path
    """`.git`, or where a linked work tree has its own files."""
    shared: Path
    """The same, or for a linked work tree the `.git` of the main one."""
    top: Path
    """The top of the work tree."""
    prefix: bytes
    """From the top of the work tree down to the root, with a slash at its end, or empty."""


def configuration_files(directory: Path, env: Mapping[str, str]) -> list[Path]:
    """The files that git reads its configuration from, whether they exist or not: a new one is a change."""
    home = Path(env.get("HOME") or "/")
    places = [
        *(directory, shared_directory(directory)),
        *(home / ".config/git", Path(env.get("XDG_CONFIG_HOME") or home) / "git"),
    ]
    return [*(place / "config" for place in places), directory / "config.worktree", home / ".gitconfig"]


def shared_directory(directory: Path) -> Path:
    """The git directory that all work trees share, as the file `commondir` has it."""
    try:
        # Looked at before every git: a third of the time that the same takes with methods of Path.
        fd = open_regular(f"{directory}/commondir")
    except OSError:  # not a linked work tree
        return directory
    try:
        path = os.fsdecode(os.read(fd, LONGEST_PATH).removesuffix(b"\n"))
    except OSError:
        return directory
    finally:
        os.close(fd)
    return Path(os.path.normpath(os.path.join(directory, path)))
