"""Git as Samuel runs it: looking at a repository never runs a program the repository names.

A repository that came as an archive brings its own `.git/config`, and an agent can write one. Git then starts, for
a plain `git status`: a file system monitor, hooks, clean filters; for others: external diffs, text converters,
signature checkers, and a transport for objects that a partial clone lacks. All of these are switched off here.
Filters have names of their own, so they are looked up first and overridden one by one.

The repository is the one that was found first: an agent that makes another one, or a file that leads git
elsewhere, changes nothing. A commit is made as its owner set git up, with their filters and signature, and
without hooks unless somebody agreed to them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from samuel.errors import SamuelError
from samuel.files.survey import Signature
from samuel.printable import safe
from samuel.process import spawn
from samuel.process.git import settings as git_settings
from samuel.process.git.output import GitCommit, GitStatus, GitStatusEntry, parse_log, parse_status
from samuel.process.git.program import git_program, path_outside
from samuel.process.git.settings import GitSetting

__all__ = ["Git", "GitCommit", "GitFailed", "GitStatus", "GitStatusEntry", "WorkTreeState"]

TIMEOUT = 60.0
COMMIT_TIMEOUT = 600.0  # of hooks, if they run, as well
OUTPUT_LIMIT = 512 * 1024 * 1024  # the names of a few million files
OLDEST = (2, 31)  # the first that reads GIT_CONFIG_COUNT: an older one would ignore what we switch off

# Given through the environment, because `-c` cuts a name at its first `=` and a filter may be called `a=b`.
_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.sshCommand": "false",
    "gpg.program": "false",
    "log.showSignature": "false",
    "log.showRoot": "false",  # the first commit "touched" every file: not worth a hundred thousand names
    "diff.external": "",
    "submodule.recurse": "false",  # a submodule has a configuration of its own
    "safe.bareRepository": "explicit",  # a folder that only looks like a repository is not one
    "protocol.allow": "never",
    "color.ui": "false",
}
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # reads stay reads: the index is not refreshed, so nobody is in an agent's way
    "GIT_ALLOW_PROTOCOL": "none",  # a list with no real protocol in it; stronger than any configuration
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# What no configuration can switch off is switched off in the command.
_FLAGS = {
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all"),
    "log": ("--no-ext-diff", "--no-textconv", "--no-show-signature"),
    "show": ("--no-ext-diff", "--no-textconv", "--no-show-signature"),
    "grep": ("--no-textconv",),
    "status": ("--ignore-submodules=all",),  # looking into one starts another git, there
}
# A commit needs no monitor, no other repository, and nothing that is tidied up in the background.
_OFF_FOR_COMMITS = {
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "safe.bareRepository": "explicit",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "false",
}


class GitFailed(SamuelError):
    """Git was not found, is too old, or said no."""


class WorkTreeState(NamedTuple):
    """How a work tree was at one moment; `changed_since` compares with it."""

    head: str
    differing: dict[str, Signature]
    """Every path that git reports as changed or untracked, with what tells whether it changes again."""


class Git:
    """One repository, seen from `root`, which may be a directory inside its work tree."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._root = root
        # Somebody's GIT_DIR or GIT_CONFIG_PARAMETERS would make this another repository, or undo the above.
        passed = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
        self._program = git_program(passed, root)
        self._plain_env = {**passed, "PATH": path_outside(passed, root)}
        self._env = {**self._plain_env, **_ENVIRONMENT}
        self._place: _Place | None = None
        self._filters: tuple[dict[str, Signature], list[str]] | None = None
        self._holding = False
        self._held: GitStatus | None = None

    @cached_property
    def available(self) -> bool:
        try:
            version = re.search(rb"(\d+)\.(\d+)", self._call(["version"]))
        except GitFailed:
            return False
        return version is not None and (int(version[1]), int(version[2])) >= OLDEST

    @property
    def is_repository(self) -> bool:
        """Whether the root is in a work tree."""
        if self._place is None and self.available:  # asked again while it is none: an agent may make one
            self._place = self._find()
        return self._place is not None

    @property
    def top(self) -> Path:
        """The top of the work tree: the root or above it."""
        return self._found().top

    @property
    def index_file(self) -> Path:
        """What `git add` and `git commit` replace: the same file means the same index."""
        return self._found().directory / "index"

    def run(self, *args: str, timeout: float = TIMEOUT) -> bytes:
        """What a git command printed. Raises GitFailed. For reading only: no filter and no hook takes part."""
        command, *rest = args
        self._found()
        off = {**_OFF, **self._without_filters()}
        return self._call([command, *_FLAGS.get(command, ()), *rest], off, timeout)

    def settings(self, file: str = "") -> list[GitSetting]:
        """The configuration, or one file of it; a later setting overrides an earlier one.

        In no repository it is the user's and the machine's. A broken `.git` would be an error there.
        """
        source = ["--file", file] if file else ["--includes"]
        arguments = ["config", *source, "--list", "--show-origin", "-z"]
        return git_settings.parse(self._call(arguments, cwd="" if self.is_repository else "/"))

    def hooks_directory(self) -> Path:
        """Where git looks for hooks: `core.hooksPath`, relative to the top of the work tree, or its own place."""
        value = git_settings.value_of(self.settings(), "core.hookspath")
        place = self._found()
        return place.top / git_settings.expanded(value, self.home) if value else place.common / "hooks"

    def commit(
        self,
        add: Sequence[str],
        paths: Sequence[str],
        message: str,
        *,
        hooks: Path | None = None,
        writable: Sequence[Path] = (),
    ) -> str:
        """Commit `paths` and nothing else, after taking `add` into the index; gives the commit.

        Filters and signatures are the owner's. No hook runs, unless `hooks` is a directory of them. Below
        `writable` lies what an agent behind a wall could change: a command of the configuration that runs
        something there is not started, and nothing is committed. Raises GitFailed.
        """
        self._found()
        # Git also filters files that are not in the commit, to see whether they changed.
        off = _no_filters(self._refuse_programs_below(writable, paths)) if writable else {}
        if add:
            self._write(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], add, hooks, off)
        verified = () if hooks else ("--no-verify",)
        names = ("--pathspec-from-file=-", "--pathspec-file-nul")  # more than a command line may hold
        self._write(["commit", "--quiet", *verified, "-m", message, *names], paths, hooks, off)
        return self.head()

    def _refuse_programs_below(self, places: Sequence[Path], paths: Sequence[str]) -> list[str]:
        """Raises GitFailed if a commit of `paths` runs something below `places`; gives all filters that would."""

        def runs(setting: GitSetting) -> str:
            return git_settings.runs_something_of(places, setting.value, self.top, self.home)

        settings = self.settings()
        asked = self._call(["check-attr", "--stdin", "-z", "filter"], stdin=_names(paths)).split(b"\0")
        wanted = {os.fsdecode(name) for name in asked[2::3]}
        drivers = git_settings.filters(settings)
        commands = [setting for name in drivers.keys() & wanted for setting in drivers[name]]
        if git_settings.value_of(settings, "commit.gpgsign").lower() not in ("", "false", "no", "off", "0"):
            commands += [one for one in git_settings.program_settings(settings) if one.key.startswith("gpg.")]
        for setting in commands:
            if word := runs(setting):
                raise GitFailed(
                    f"`{safe(setting.key)}` runs `{safe(word)}`, which a sandboxed agent can change",
                    "Look at the changes and commit them yourself, or keep that program outside of the project.",
                )

        return [name for name, lines in drivers.items() if any(map(runs, lines))]

    def _write(self, args: list[str], paths: Sequence[str], hooks: Path | None, off: Mapping[str, str]) -> None:
        off = {**_OFF_FOR_COMMITS, **off, "core.hooksPath": str(hooks or "/dev/null")}
        env = {**self._plain_env, "GIT_LITERAL_PATHSPECS": "1", "GIT_TERMINAL_PROMPT": "0"}
        self._call(args, off, COMMIT_TIMEOUT, stdin=_names(paths), env=env)

    @property
    def home(self) -> str:
        """What `~` means in a configuration."""
        return self._env.get("HOME") or "/"

    def head(self) -> str:
        """The commit that is checked out; "" before the first one."""
        try:
            return self.run("rev-parse", "--verify", "--quiet", "HEAD").decode().strip()
        except GitFailed:
            return ""

    def files(self) -> list[str]:
        """Tracked files and those that are neither tracked nor ignored. A tracked one may be missing on disk."""
        said = self.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
        return [os.fsdecode(name) for name in said.split(b"\0")[:-1] if not name.endswith(b"/")]

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
        prefix = self._found().prefix
        said = self.run(
            *("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind"),
            *("--untracked-files=all", "--no-renames", *(("--", ".") if prefix else ())),
        )
        return parse_status(said, prefix)

    def log(self, count: int) -> list[GitCommit]:
        """The newest commits that touched something at or below the root."""
        here = ("--", ".") if self._found().prefix else ()
        try:
            # A commit begins after empty fields; neither its first line nor a name can be one.
            said = self.run(
                *("log", "-z", f"--max-count={count}", "--name-only", "--relative", "--no-renames", "--no-notes"),
                *("--encoding=UTF-8", "--format=tformat:%x00%x00%h %cs %s", *here),
            )
        except GitFailed:
            if not self.head():  # git calls a repository without commits broken
                return []
            raise
        return parse_log(said)

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
            old, new = before.head or self._empty_tree(), now.head or self._empty_tree()
            said = self.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--relative", old, new)
            changed |= {os.fsdecode(name) for name in said.split(b"\0")[:-1]}
        return sorted(changed)

    def _empty_tree(self) -> str:
        return self.run("hash-object", "-t", "tree", "/dev/null").decode().strip()

    def _found(self) -> _Place:
        if self.is_repository and self._place is not None:
            return self._place
        if not self.available:
            wanted = ".".join(map(str, OLDEST))
            raise GitFailed(f"No git {wanted} or newer was found.", "Install it, or put it on PATH.")
        raise GitFailed(f"`{safe(str(self._root))}` is in no git work tree.", "Make one with `git init`.")

    def _find(self) -> _Place | None:
        try:
            # The directory comes last: its name may hold line breaks.
            said = self._call(["rev-parse", "--is-inside-work-tree", "--show-cdup", "--absolute-git-dir"])
        except GitFailed:
            return None
        inside, up, directory = said.split(b"\n", 2)
        if inside != b"true":
            return None
        below = os.fsencode(os.path.realpath(self._root)).split(b"/")
        prefix = b"".join(name + b"/" for name in below[len(below) - up.count(b"../") :])
        own = Path(os.fsdecode(directory.removesuffix(b"\n")))
        top = Path(os.path.normpath(os.path.join(os.path.realpath(self._root), os.fsdecode(up))))
        return _Place(own, _common(own), top, prefix)

    def _without_filters(self) -> dict[str, str]:
        """Switch off every filter driver that any configuration file names."""
        if self._filters is None or any(_signature(file) != seen for file, seen in self._filters[0].items()):
            self._filters = self._find_filters(self._found().directory)
        return _no_filters(self._filters[1])

    def _find_filters(self, directory: Path) -> tuple[dict[str, Signature], list[str]]:
        """The drivers' names, and the files they stand in: while these stay the same, so do the names."""
        seen = {str(file): _signature(file) for file in _configuration_files(directory, self._env)}
        settings = self.settings()
        if any(setting.key.startswith(("include.", "includeif.")) for setting in settings):
            # What is included may appear, or come to apply, with none of these files touched: look each time.
            seen[""] = (-1,)
        for setting in settings:
            seen.setdefault(setting.origin, _signature(setting.origin))
        return seen, sorted(git_settings.filters(settings))

    def _call(
        self,
        args: list[str],
        off: Mapping[str, str] = _OFF,
        timeout: float = TIMEOUT,
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: str = "",
    ) -> bytes:
        """What git printed. Every git in a project is started here: by its path, in the repository found first."""
        variables = {**(self._env if env is None else env), "GIT_CONFIG_COUNT": str(len(off))}
        for number, (key, value) in enumerate(off.items()):
            variables[f"GIT_CONFIG_KEY_{number}"], variables[f"GIT_CONFIG_VALUE_{number}"] = key, value
        if self._place is not None:
            directory, common, top, _ = self._place
            if _common(directory) != common:  # for refs, git believes this file more than the variable
                raise GitFailed(
                    f"`{safe(str(directory))}/commondir` leads git to another repository now.",
                    "Look at that file: nothing but `git worktree add` should write it.",
                )
            variables |= {"GIT_DIR": str(directory), "GIT_COMMON_DIR": str(common), "GIT_WORK_TREE": str(top)}
        if not self._program:
            raise GitFailed(
                "`git` was not found on PATH, outside of the project.", "Install it, or put it on PATH."
            )
        argv = [self._program, "--no-pager", *args]
        done = spawn.run(
            argv,
            cwd=cwd or str(self._root),
            env=variables,
            stdin=stdin,
            timeout=timeout,
            output_limit=OUTPUT_LIMIT,
        )
        if done.ended == "exited" and done.returncode == 0:
            return done.stdout
        said = done.why or done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
        if done.ended == "timed_out":
            said = f"stopped after {timeout:g}s"
        where = f"`git {safe(args[0])}` in `{safe(str(self._root))}`"
        raise GitFailed(f"{where} failed: {said}", "Try the same command by hand.")


class _Place(NamedTuple):
    directory: Path  # `.git`, or where a linked work tree keeps its own
    common: Path  # the same, or for a linked work tree `.git` of the main one
    top: Path  # of the work tree
    prefix: bytes  # from the top of the work tree down to the root, with a slash at its end, or empty


def _configuration_files(directory: Path, env: Mapping[str, str]) -> list[Path]:
    """Also those that do not exist: one that appears is a change."""
    home = Path(env.get("HOME") or "/")
    places = [
        *(directory, _common(directory)),
        *(home / ".config/git", Path(env.get("XDG_CONFIG_HOME") or home) / "git"),
    ]
    return [*(place / "config" for place in places), directory / "config.worktree", home / ".gitconfig"]


def _common(directory: Path) -> Path:
    """The directory that work trees share, by the word of the file `commondir`."""
    try:
        said = os.fsdecode((directory / "commondir").read_bytes().removesuffix(b"\n"))
    except OSError:  # not a linked work tree
        return directory
    return Path(os.path.normpath(directory / said))


def _no_filters(names: Iterable[str]) -> dict[str, str]:
    """The settings that switch these drivers off."""
    # Empty means none; `required` would make "none" an error.
    values = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"filter.{name}.{key}": value for name in names for key, value in values.items()}


def _names(paths: Sequence[str]) -> bytes:
    return b"\0".join(map(os.fsencode, paths))


def _signature(path: str | Path) -> Signature:
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode
