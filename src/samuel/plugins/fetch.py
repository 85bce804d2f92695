"""Fetches a plugin's files with git, or from a directory.

The configuration of a repository has no effect. Git fetches into a temporary bare repository, and nothing is
checked out: no hook, filter, line-end conversion or submodule runs. The tree is listed and checked, and then its
files are written one by one by this module. The user's own git configuration stays in effect: credentials and
`url.<base>.insteadOf`.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.base.printable import file_name, safe, shell_word
from samuel.files.survey import MOST_FILES
from samuel.git.hardening import configured, git_program, path_outside
from samuel.git.output import EXECUTABLE, GITLINK, LINK, TreeEntry, parse_blobs, parse_entries
from samuel.plugins import tree
from samuel.plugins.contents import MOST_BYTES
from samuel.plugins.source import PATH, PluginSource
from samuel.process import spawn
from samuel.process.environment import clean

TIMEOUT = 300.0
MAX_LISTING = 16 * 1024 * 1024  # bytes of `ls-tree`; trees that contain each other many times over never end
BATCH = 8 * 1024 * 1024
MAX_LINK = 4096

_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "transfer.fsckObjects": "true",
    "fetch.fsckObjects": "true",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "fetch.writeCommitGraph": "false",
    "transfer.bundleURI": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "init.templateDir": "",
    "color.ui": "false",
}
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",  # it runs in a session of its own, without a terminal
    "LC_ALL": "C",
}
_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class FetchProgress(Protocol):
    """Receives the progress of a fetch."""

    def step(self, text: str) -> None:
        """A step begins that may take a while."""

    def progress(self, text: str) -> None:
        """How far the step is; each text replaces the one before."""


class SilentProgress:
    def step(self, text: str) -> None: ...

    def progress(self, text: str) -> None: ...


SILENT = SilentProgress()


class Fetched(NamedTuple):
    commit: str  # "" for a directory
    ref: str  # the requested branch, tag or commit


def fetch(
    source: PluginSource, into: Path, watch: FetchProgress = SILENT, *, project: Path | None = None
) -> Fetched:
    """Put the files of `source` into the new directory `into`. Raises SamuelError.

    Git itself is not taken from inside `project`.
    """
    if source.kind == PATH:
        watch.step(f"copying {source.url}")
        tree.copy(Path(source.url), into)
        return Fetched("", "")
    watch.step(f"fetching {source.text_with_ref}")
    # On the file system of the plugins, since /tmp may be too small.
    with tempfile.TemporaryDirectory(prefix=".git-", dir=into.parent) as scratch:
        repository = _Repository(Path(scratch), watch, project)
        commit = repository.fetch(source)
        repository.write(commit, into, source.title)
    return Fetched(commit, source.ref)


class _Blob(NamedTuple):
    item: tree.TreeItem
    id: str


def _item(entry: TreeEntry) -> tree.TreeItem:
    kind = stat.S_IFLNK if entry.mode == LINK else stat.S_IFREG | (0o755 if entry.mode == EXECUTABLE else 0o644)
    return tree.TreeItem(entry.path, kind, entry.size)


class _Repository:
    """A temporary bare repository for one fetch."""

    def __init__(self, directory: Path, watch: FetchProgress, project: Path | None) -> None:
        self._env = _environment(project)
        self._program = git_program(self._env, project)
        if not self._program:
            raise SamuelError("`git` was not found on PATH", "install git, or add the plugin from a directory")
        self._directory = str(directory)
        self._watch = watch
        self._call("init", "--quiet", "--bare", "--template=", "--initial-branch=none", self._directory)

    def fetch(self, source: PluginSource) -> str:
        """Fetch the ref, or the default branch; returns the commit."""
        options = ("fetch", "--progress", "--no-tags", "--no-recurse-submodules", "--no-auto-gc")
        try:
            self._call(*options, "--depth=1", "--", source.url, source.ref or "HEAD", watched=True)
            return self._commit("FETCH_HEAD")
        except FetchFailed as error:
            if not _SHORT_COMMIT.fullmatch(source.ref):
                raise error.of(source) from None
        # The server sends some commits only with their branch, and never an abbreviated one.
        self._watch.step(f"fetching all of {source.url}")
        heads_and_tags = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        try:
            self._call(*options, "--", source.url, *heads_and_tags, watched=True)
            return self._commit(source.ref)
        except FetchFailed as error:
            raise error.of(source) from None

    def _commit(self, name: str) -> str:
        try:
            output = self._call("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except FetchFailed:
            raise FetchFailed(f"`{name}` is not a branch, tag or commit of the repository") from None
        commit = output.decode(errors="replace").strip()
        if not _FULL_COMMIT.fullmatch(commit) or (_SHORT_COMMIT.fullmatch(name) and not commit.startswith(name)):
            raise FetchFailed(f"`{name}` is not a branch, tag or commit of the repository")
        return commit

    def write(self, commit: str, into: Path, title: str) -> None:
        blobs = self._list(commit, title)
        tree.check((blob.item for blob in blobs), title)
        into.mkdir()
        links = []
        for blob, content in self._read(blobs):
            if stat.S_ISLNK(blob.item.mode):
                links.append((blob.item.path, os.fsdecode(content)))
            else:
                tree.write_file(into, blob.item, [content])
        for path, target in links:
            tree.write_link(into, path, target)

    def _list(self, commit: str, title: str) -> list[_Blob]:
        listed = self._call("ls-tree", "-r", "-z", "-l", "--full-tree", commit, limit=MAX_LISTING)
        blobs, problems = [], []
        for entry in parse_entries(listed):
            path = file_name(entry.path)
            if entry.mode == GITLINK:
                hint = "put its files into the repository itself"
                problems.append(Problem("it is a submodule", path, hint=hint))
                continue
            if entry.mode == LINK and entry.size > MAX_LINK:
                what = f"symbolic link target is too long ({entry.size} bytes, at most {MAX_LINK})"
                problems.append(Problem(what, path))
            blobs.append(_Blob(_item(entry), entry.object))
        if problems:
            raise ConfigError(problems[:20])
        if not blobs:
            raise ConfigError([Problem("the repository has no files", title)])
        return blobs

    def _read(self, blobs: Sequence[_Blob]) -> Iterator[tuple[_Blob, bytes]]:
        """The contents of the blobs, a few megabytes at a time."""
        batch: list[_Blob] = []
        for blob in blobs:
            if batch and sum(waiting.item.size for waiting in batch) + blob.item.size > BATCH:
                yield from self._read_batch(batch)
                batch = []
            batch.append(blob)
        yield from self._read_batch(batch)

    def _read_batch(self, batch: Sequence[_Blob]) -> Iterator[tuple[_Blob, bytes]]:
        request = "".join(f"{blob.id}\n" for blob in batch).encode()
        output = self._call("cat-file", "--batch", stdin=request, limit=MOST_BYTES + 256 * MOST_FILES)
        for blob, content in zip(batch, parse_blobs(output), strict=True):
            if content is None or len(content) != blob.item.size:
                raise FetchFailed(f"the content of `{blob.item.path}` is not the one listed in the tree")
            yield blob, content

    def _call(
        self,
        command: str,
        *args: str,
        stdin: bytes = b"",
        limit: int = spawn.OUTPUT_LIMIT,
        watched: bool = False,
    ) -> bytes:
        process = spawn.run(
            [self._program, "--no-pager", f"--git-dir={self._directory}", command, *args],
            cwd=self._directory,
            env=self._env,
            stdin=stdin,
            timeout=TIMEOUT,
            output_limit=limit,
            on_output=self._tell if watched else None,
        )
        if process.ended == "exited" and process.returncode == 0:
            return process.stdout
        if process.ended == "timed_out":
            raise FetchFailed(f"stopped after {TIMEOUT:g}s")
        if process.ended == "too_much_output":
            raise FetchFailed(f"it holds more than {MOST_FILES} files, or names too long")
        raise FetchFailed(process.why or _error_lines(process.stderr) or f"exit code {process.returncode}")

    def _tell(self, chunk: bytes) -> None:
        lines = [line.strip() for line in chunk.decode(errors="replace").replace("\r", "\n").split("\n")]
        for line in lines:
            if "%" in line:
                self._watch.progress(line.removeprefix("remote: "))


class FetchFailed(SamuelError):
    def of(self, source: PluginSource) -> SamuelError:
        hint = f"try `git ls-remote {shell_word(source.url)}` by hand"
        if "could not read Username" in self.message or "Authentication failed" in self.message:
            hint = "git cannot ask here: give it a credential helper, or use an ssh URL and an ssh agent"
        return SamuelError(f"`{source.text_with_ref}` could not be fetched: {self.message}", hint)


def _environment(project: Path | None) -> Mapping[str, str]:
    """Without the caller's GIT_* variables: some of them name other repositories, programs or configuration."""
    env = clean(_VARIABLES, pass_names=("SSH_AUTH_SOCK", "SSH_AGENT_PID"))
    env["PATH"] = path_outside(env, project)
    return {**env, **configured(_SETTINGS)}


def _error_lines(stderr: bytes) -> str:
    """The last lines of git's error output, without its progress."""
    lines = (
        line.rpartition("\r")[2].strip()
        for line in safe(stderr.decode(errors="replace"), keep="\n\r\t").split("\n")
    )
    return "\n".join([line for line in lines if line and "%" not in line][-8:])
