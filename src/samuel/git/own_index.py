"""An index of Samuel's own for the work tree of a repository, with settings under which content is byte for byte.

The repository's index is not used, nor is its configuration: it can name filters, a file system monitor and
conversions of line ends. So there is a second git directory, in the user's state, where a sandboxed agent cannot
write. It has an index, a few settings, and attributes that override every `.gitattributes`. Objects go to the
repository itself.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from samuel.base.paths import VOLATILE_DIRS
from samuel.files import atomic
from samuel.git import hardening
from samuel.git import settings as git_settings
from samuel.git.git import Git
from samuel.git.output import GITLINK, TreeEntry
from samuel.git.settings import GitSetting
from samuel.git.work_file import WorkFiles
from samuel.process.spawn import Finished

TIMEOUT = 600.0  # the first look reads every file
_SECOND, _TICK = 1_000_000_000, 20_000_000  # in nanoseconds
_ATTRIBUTES = "* -text -ident -filter !working-tree-encoding !diff !eol\n"
_TEMPORARY = re.compile(r"\.samuel-[0-9a-f]{16}\.tmp")  # what a killed `atomic.write_at` leaves
_PLATFORM = ("core.precomposeunicode", "core.symlinks")


class OwnIndex:
    """The own index of the project that `git` is in, kept in `directory`."""

    def __init__(self, git: Git, directory: Path) -> None:
        self._git = git
        self._directory = directory
        self._swept = False
        self.not_kept: dict[str, str] = {}
        """The files that no tree has as they are, and why; a tree has a note in their place."""

    @property
    def index(self) -> Path:
        return self._directory / "index"

    def call(self, *args: str, stdin: bytes = b"", index: Path | None = None) -> bytes:
        """What a git command printed, in the own git directory and the project's work tree."""
        env, off = self._environment(index)
        return self._git.call(list(args), off, TIMEOUT, stdin=stdin, env=env, own=self._directory)

    def try_call(self, *args: str) -> Finished:
        """The same for a command whose exit code is an answer."""
        env, off = self._environment(None)
        return self._git.finished(list(args), off, TIMEOUT, env=env, own=self._directory)

    def _environment(self, index: Path | None) -> tuple[dict[str, str], dict[str, str]]:
        self._git.location()
        env = {**self._git.reading_environment, "GIT_LITERAL_PATHSPECS": "1"}
        env["GIT_INDEX_FILE"] = str(index or self.index)
        return env, {**hardening.SETTINGS, **self._settings}

    def prepare(self) -> None:
        """Make what is missing, and remove what a killed git left."""
        if not self._swept:
            for name in ("index.lock", "mixed.lock", "mixed"):
                with suppress(FileNotFoundError):
                    (self._directory / name).unlink()
            self._lay_out()
            self._swept = True
        if not self.index.exists():
            self.rebuild()

    def rebuild(self) -> None:
        """Make the index from the repository's paths and the untracked ones, as the work tree has them now."""
        for name in ("index", "index.lock"):
            with suppress(FileNotFoundError):
                (self._directory / name).unlink()
        self._lay_out()
        absent_before = set(self._absent()) if (self._directory / "absent").exists() else None
        entries, absent, paths = [], [], []
        for entry in _split(self._git.run("ls-files", "-s", "-t", "-z", "--full-name", ":/")):
            tag, _, line = entry.partition(" ")
            facts, _, name = line.partition("\t")
            if facts.endswith(" 0"):  # of a conflict, the work tree has what there is
                entries.append(f"{facts}\t{name}")
            path = self._below(name)
            # Which files a sparse checkout leaves out, the index says only as long as no agent has written it.
            skipped = tag == "S" and (absent_before is None or path in absent_before)
            if facts.startswith(GITLINK) or path is None or (skipped and not self._exists(path)):
                absent.append(name)
            else:
                paths.append(path)
        # To its name in one step, when it is complete: a kill leaves no index that lacks half of the files.
        building = self._directory / "mixed"
        building.unlink(missing_ok=True)
        self.call("read-tree", "--empty", index=building)
        self._at_top("-z", "--index-info", names=entries, index=building)
        # What is not in this work tree (submodules, a sparse checkout, beside the project) stays as it is.
        self._at_top("-z", "--skip-worktree", "--stdin", names=absent, index=building)
        below = [path for name in absent if (path := self._below(name)) is not None]
        self._write_names("absent", below)
        self.take(paths, index=building)
        self.take(self.differing(building), index=building)
        os.replace(building, self.index)

    def _at_top(self, *options: str, names: Sequence[str], index: Path) -> None:
        """`update-index` with names from the top of the work tree."""
        if names:
            up = "../" * self._git.location().prefix.count(b"/")
            if "--index-info" not in options:  # which takes names from the top in any case
                names = [up + name for name in names]
            self.call("update-index", *options, stdin=_joined(names), index=index)

    def take(self, paths: Iterable[str], index: Path | None = None) -> None:
        """Make the entries of these paths what is in the work tree now; a path that is not there loses its entry.

        A directory, a pipe or what lies behind a link is no file of the project, so its path has no entry. A file
        that cannot be read or is too large gets a note as its entry, which changes when the file does.
        """
        files, absent, recent = WorkFiles(self._root), set(self._absent()), self._recent()
        now = time.time_ns()
        entries: list[tuple[str, TreeEntry | None]] = []
        present, doubtful, still_recent = [], [], {}
        for path in paths:
            if path.startswith(VOLATILE_DIRS) or ".git" in path.split("/"):
                continue
            file = files.look(path)
            self.not_kept.pop(path, None)
            if recent.pop(path, file.changed_at) != file.changed_at:
                doubtful.append(path)
            if file.kind == "file":
                present.append(path)
                if file.changed_at // _SECOND >= now // _SECOND - 1:
                    # A change within the same tick of the kernel's clock would have the same time.
                    still_recent[path] = file.changed_at if file.changed_at < now - _TICK else 0
            elif file.kind == "not_kept":
                self.not_kept[path] = file.why
                entries.append((path, self._note(path, file.note)))
            elif path not in absent:
                entries.append((path, None))
        if doubtful:
            self._forget(doubtful, index)
        if entries:
            self.set_entries(entries, index or self.index)
        if present:
            options = ("--add", "--remove", "--replace", "--ignore-skip-worktree-entries", "-z", "--stdin")
            self.call("update-index", *options, stdin=_joined(present), index=index)
        self._write_recent({**recent, **still_recent})

    def take_outside(self, paths: Iterable[str], index: Path) -> None:
        """The same for paths beside the project, from the top of the work tree; only those that can be kept."""
        top = self._git.top
        files = WorkFiles(top)
        names = [path for path in paths if files.look(path).kind == "file" or not os.path.lexists(top / path)]
        self._at_top("--add", "--remove", "--replace", "-z", "--stdin", names=names, index=index)

    def _note(self, path: str, text: bytes) -> TreeEntry:
        name = self.call("hash-object", "-w", "--stdin", stdin=text).decode().strip()
        return TreeEntry(path, "100644", name, len(text))

    def _forget(self, paths: Sequence[str], index: Path | None) -> None:
        """Let git read these files again, whatever their times are."""
        names = set(paths)
        lines = _split(self.call("ls-files", "-s", "-z", index=index))
        prefix = os.fsdecode(self._git.location().prefix)
        entries = [line.split("\t", 1) for line in lines]
        tracked = [f"{facts}\t{prefix}{name}" for facts, name in entries if name in names]
        self.call("update-index", "-z", "--index-info", stdin=_joined(tracked), index=index)

    def set_entries(self, entries: Iterable[tuple[str, TreeEntry | None]], index: Path) -> None:
        """Give these paths in an index what a tree has there; None is nothing."""
        prefix = os.fsdecode(self._git.location().prefix)
        nothing = "0 " + "0" * (64 if self._object_format == "sha256" else 40)
        # Removals first: a name may be that of a file and of a directory of the other files.
        ordered = sorted(entries, key=lambda pair: pair[1] is not None)
        lines = [
            f"{f'{entry.mode} {entry.object}' if entry else nothing}\t{prefix}{path}" for path, entry in ordered
        ]
        self.call("update-index", "--replace", "-z", "--index-info", stdin=_joined(lines), index=index)

    def differing(self, index: Path | None = None) -> list[str]:
        """The paths whose entry is not, or may not be, what the work tree has; untracked and not ignored too."""
        exclude = self._git.location().shared / "info/exclude"
        own = ("--exclude-from", str(exclude)) if exclude.is_file() else ()
        changed = self.call(
            "diff-files", "-z", "--name-only", "--relative", "--ignore-submodules=all", index=index
        )
        listing = ("ls-files", "-z", "--others", "--exclude-standard", *own)
        untracked = self.call(*listing, index=index)
        if os.path.lexists(self._root / ".git") and self._git.top != self._root.resolve():
            # Another repository was made at the root of a project inside a larger one: git would pass over it.
            untracked += self.call(f"--work-tree={self._root}", *listing, index=index)
        # Tracked in spite of the rules: `git add -f`.
        forced = self._git.run("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
        indexed = set(_split(self.call("ls-files", "-z", index=index))) if forced else set()
        paths = [*_split(changed), *(path for path in _split(untracked) if not path.endswith("/"))]
        paths += [path for path in _split(forced) if path not in indexed and self._exists(path)]
        # A `.gitignore` that hides itself, too. Of a directory that is ignored as a whole, git names only that.
        listing = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        hidden = self.call(*listing, index=index)
        paths += [path for path in _split(hidden) if path.rpartition("/")[2] == ".gitignore"]
        paths += self._changed_again()
        return [path for path in [*paths, *self._appeared(index)] if not self._is_debris(path)]

    def differing_from(self, tree: str) -> set[str]:
        """The paths whose entry is not what the tree has."""
        options = ("--cached", "-z", "--name-only", "--relative", "--ignore-submodules=all")
        return set(_split(self.call("diff-index", *options, tree or self._git.empty_tree())))

    def _appeared(self, index: Path | None) -> list[str]:
        """Paths that the work tree did not have and that are there now; from here on they count."""
        absent = self._absent()
        appeared = [path for path in absent if self._is_file(path)]
        if appeared:
            self.call("update-index", "-z", "--no-skip-worktree", "--stdin", stdin=_joined(appeared), index=index)
            self._write_names("absent", [path for path in absent if path not in set(appeared)])
        return appeared

    def _absent(self) -> list[str]:
        """The paths that are in the index and not, or not as files, in the work tree."""
        return self._names("absent")

    def _recent(self) -> dict[str, int]:
        """The paths that changed in the second in which they were taken, and when; 0 if that is not exact.

        Git compares times of changes by the second: a file that changes twice in one may look the same to it.
        """
        lines = (line.split(" ", 1) for line in self._names("recent"))
        return {path: int(at) for at, path in lines}

    def _changed_again(self) -> list[str]:
        """Those of the recent paths that changed since. Of the others, git will see a change from now on."""
        now, files, recent = time.time_ns() // _SECOND, WorkFiles(self._root), self._recent()
        again = {path for path, at in recent.items() if files.look(path).changed_at != at}
        self._write_recent({path: at for path, at in recent.items() if path in again or at // _SECOND >= now - 1})
        return sorted(again)

    def _write_recent(self, recent: Mapping[str, int]) -> None:
        if recent != self._recent():
            self._write_names("recent", (f"{at} {path}" for path, at in recent.items()))

    def _names(self, file: str) -> list[str]:
        try:
            return _split((self._directory / file).read_bytes())
        except FileNotFoundError:
            return []

    def _write_names(self, file: str, names: Iterable[str]) -> None:
        atomic.write_bytes(self._directory / file, _joined(sorted(names)), 0o600, durable=False)

    def _is_debris(self, path: str) -> bool:
        """Whether this is a file that a killed Samuel left; it is removed."""
        if not _TEMPORARY.fullmatch(os.path.basename(path)):
            return False
        with suppress(OSError):
            (self._root / path).unlink()
        return True

    @cached_property
    def _owner_settings(self) -> list[GitSetting]:
        return self._git.settings()

    @property
    def _object_format(self) -> str:
        return git_settings.value_of(self._owner_settings, "extensions.objectformat")

    @property
    def is_partial(self) -> bool:
        """Whether the repository lacks objects on purpose."""
        keys = (setting.key for setting in self._owner_settings)
        return any(re.fullmatch(r"remote\..+\.promisor|extensions\.partialclone", key) for key in keys)

    @cached_property
    def _settings(self) -> dict[str, str]:
        """What of the owner's configuration counts: which files git ignores, and what the file system can do.

        Which files git ignores everywhere is up to the user. The repository's configuration does not count there:
        an agent could hide files by it. Nor does it tell whether the file system knows upper case.
        """
        settings, home = self._owner_settings, self._git.home
        of_user = [setting for setting in settings if setting.scope in ("system", "global")]
        places = self._git.owner_environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
        ignored = git_settings.value_of(of_user, "core.excludesfile")
        platform = {key: value for key in _PLATFORM if (value := git_settings.value_of(settings, key))}
        return {
            **platform,
            "core.ignorecase": "true" if self._ignores_case() else "false",
            "core.excludesFile": git_settings.expanded(ignored, home) if ignored else f"{places}/git/ignore",
            "core.fileMode": git_settings.value_of(settings, "core.filemode") or "true",
            "core.autocrlf": "false",
            "core.safecrlf": "false",
            # Of all that tells whether a file changed, only the time of its last change cannot be set at will.
            "core.trustctime": "true",
            "core.checkStat": "default",
            "core.untrackedCache": "false",
            "core.splitIndex": "false",
            "index.sparse": "false",
            "gc.auto": "0",
        }

    def _ignores_case(self) -> bool:
        """Whether the file system finds a file by a name in other letters; git asks it in the same way."""
        directory = self._git.location().shared
        return (directory / "hEAD").exists() and "hEAD" not in os.listdir(directory)

    def _lay_out(self) -> None:
        lay_out_git_directory(self._directory, self._object_format, {"info/attributes": _ATTRIBUTES})

    @property
    def _root(self) -> Path:
        return self._git.root

    def _below(self, name: str) -> str | None:
        """A name from the top of the work tree as a path of the project; None for what is beside it."""
        prefix = os.fsdecode(self._git.location().prefix)
        return name[len(prefix) :] if name.startswith(prefix) else None

    def _exists(self, path: str) -> bool:
        return os.path.lexists(self._root / path)

    def _is_file(self, path: str) -> bool:
        file = self._root / path
        return os.path.islink(file) or os.path.isfile(file)


def lay_out_git_directory(
    directory: Path, object_format: str, files: Mapping[str, str], *, bare: bool = False
) -> None:
    """Make a git directory of Samuel's own, without objects, and with these files."""
    version = f"[core]\n\trepositoryformatversion = 1\n\tbare = {str(bare).lower()}\n"
    if object_format:
        version += f"[extensions]\n\tobjectFormat = {object_format}\n"
    (directory / "refs").mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, text in {"HEAD": "ref: refs/heads/none\n", "config": version, **files}.items():
        (directory / name).parent.mkdir(exist_ok=True, mode=0o700)
        atomic.write_text(directory / name, text, 0o600, durable=False)


def _split(output: bytes) -> list[str]:
    return [os.fsdecode(field) for field in output.split(b"\0") if field]


def _joined(names: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in names)
