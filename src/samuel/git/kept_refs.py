"""Refs of Samuel's own: `refs/samuel/<run>/<task>/<attempt>` for attempts, `refs/samuel/<run>/verified` for a run,
and `refs/samuel/<run>/person` for the work tree with what a person had not committed. A run with lanes also has
`refs/samuel/<run>/work/<task>/<attempt>` for what is ready to land. `refs/samuel/<run>/landed/<task>` is the
commit of a completed task, `refs/samuel/<run>/before` has the branches and stashes as of the start of the last
attempt and the index, and `refs/samuel/<run>/agent/<iteration>/...` what an agent had in HEAD, in refs and in
hooks that were put back, and its commits that were taken off the branch.
`refs/samuel/branches/<run>/from/<branch>` remembers where the branch of a run came from.

Each is a commit, so `git log`, `git show` and `git gc` know what to do with it. The parent of an attempt is the
commit of the verified tree that it began with: `git show` prints just what the attempt changed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote, unquote

from samuel.base.errors import UnsafePath
from samuel.files.inside import make_dirs_inside
from samuel.git import hardening
from samuel.git import settings as git_settings
from samuel.git.git import Git, GitFailed

PREFIX = "refs/samuel"
NOTES = "refs/notes/samuel"
"""Has a receipt for each commit of Samuel's."""
VERIFIED = "verified"
PERSON = "person"
WORK = "work"
LANDED = "landed"
BEFORE = "before"
AGENT = "agent"
COMMITS = "commits"  # of an agent, which were taken off the branch
BRANCHES = "branches"
DISCARDED = "discarded"
OWN = "samuel"  # the branches of runs are below it
NAME, EMAIL = "Samuel", "samuel@localhost"  # of commits where the owner has not told git who they are
_LONGEST = 120  # characters of a name: a file system has at most 255 bytes, and `.lock` is added
_FIELDS = "%(refname)%00%(objectname)%00%(tree)%00%(parent)%00%(committerdate:unix)"


class KeptRef(NamedTuple):
    """A ref of one attempt, or one of a run."""

    name: str
    run: str
    task: str
    """As it was, unless it was too long for a ref; "" for one of a run."""
    attempt: int
    """0 for one of a run."""
    commit: str
    tree: str
    parent: str
    """The commit of the tree that the attempt began with; "" for none."""
    at: float


def part(name: str) -> str:
    """A name as one part of a ref. Two names never have the same; `1.2` and the like stay as they are."""
    if not name:
        return "%"
    text = quote(name, safe="", errors="surrogateescape").replace("~", "%7E")
    text = re.sub(r"^\.|\.(?=\.)|\.$|\.(?=lock$)", "%2E", text)
    if text in (VERIFIED, PERSON, WORK, LANDED, BEFORE, AGENT, "@") or text.startswith("-"):
        text = f"%{ord(text[0]):02X}{text[1:]}"
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f"{text[: _LONGEST - 40].rsplit('%', 1)[0]}%-{digest}"


def run_prefix(run: str) -> str:
    return f"{PREFIX}/{part(run)}/"


def attempt_ref(run: str, task: str, attempt: int) -> str:
    return f"{run_prefix(run)}{part(task)}/{attempt}"


def verified_ref(run: str) -> str:
    return f"{run_prefix(run)}{VERIFIED}"


def person_ref(run: str) -> str:
    return f"{run_prefix(run)}{PERSON}"


def before_ref(run: str) -> str:
    """The ref of what the branches and stashes of a person were before the last attempt."""
    return f"{run_prefix(run)}{BEFORE}"


def agent_ref(run: str, iteration: int, name: str) -> str:
    """The ref that keeps what an agent had in the ref `name`, which was put back."""
    return f"{run_prefix(run)}{AGENT}/{iteration}/{name.removeprefix('refs/')}"


def branch_prefix(name: str) -> str:
    """Where it is remembered where the branch of a run came from."""
    return f"{PREFIX}/{BRANCHES}/{part(name.removeprefix(f'{OWN}/'))}/"


def work_prefix(run: str) -> str:
    return f"{run_prefix(run)}{WORK}/"


def work_ref(run: str, task: str, attempt: int) -> str:
    """The ref of work that is ready to land, or has landed."""
    return f"{work_prefix(run)}{part(task)}/{attempt}"


def landed_prefix(run: str) -> str:
    return f"{run_prefix(run)}{LANDED}/"


def landed_ref(run: str, task: str) -> str:
    """The ref that is created, once, when the work on a task lands."""
    return f"{landed_prefix(run)}{part(task)}"


def commits_by_ref(git: Git, *names: str) -> dict[str, str]:
    """The commits of the refs with these names, and of all refs below them."""
    output = git.run("for-each-ref", "--format=%(refname) %(objectname)", *names)
    return dict(line.rsplit(" ", 1) for line in output.decode("utf-8", "surrogateescape").splitlines())


class KeptRefs:
    """The refs of Samuel in the repository of `git`."""

    def __init__(self, git: Git) -> None:
        self._git = git

    def keep(self, ref: str, tree: str, parent: str = "", message: str = "") -> str:
        """Let `ref` hold a commit of this tree; gives the commit. Idempotent."""
        ref_before = self.find(ref)
        if ref_before and (ref_before.tree, ref_before.parent) == (tree, parent):
            return ref_before.commit
        commit = self.commit(tree, parent, message or ref)
        self.set_ref(ref, commit)
        return commit

    def find(self, ref: str) -> KeptRef | None:
        return next((entry for entry in self._list(ref) if entry.name == ref), None)

    def refs(self, run: str = "", task: str = "") -> list[KeptRef]:
        """The attempts, oldest first: of one run or all, of one task or all."""
        entries = self._list(run_prefix(run) if run else f"{PREFIX}/")
        task_part = part(task) if task else ""
        attempts = [entry for entry in entries if entry.attempt and task_part in ("", entry.name.split("/")[3])]
        return sorted(attempts, key=lambda entry: (entry.at, entry.run, entry.attempt))

    def drop(self, run: str, task: str = "") -> None:
        """Remove the refs of one task of a run, or of the whole run."""
        names = [entry.name for entry in self.refs(run, task)]
        for name in names if task else self._names(run_prefix(run)):
            self._change(name, "-d", name)

    def tree_of(self, commit: str) -> str:
        """The tree of a commit; "" for none."""
        if not commit:
            return ""
        try:
            return self._git.run("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}").decode().strip()
        except GitFailed:
            return ""

    def exist(self, trees: Sequence[str]) -> bool:
        """Whether the repository has all of these trees."""
        try:
            output = self._git.run("rev-parse", *(f"{tree}^{{tree}}" for tree in trees))
        except GitFailed:
            return False
        return output.decode().split() == list(trees)

    def _list(self, prefix: str) -> list[KeptRef]:
        output = self._git.run("for-each-ref", f"--format={_FIELDS}", prefix)
        entries = (_entry(line) for line in output.decode(errors="replace").splitlines())
        return [entry for entry in entries if entry is not None]

    def commit(self, tree: str, parents: str | Sequence[str], message: str) -> str:
        """A new commit of a tree, which no ref holds yet."""
        each = [parents] if isinstance(parents, str) else parents
        before = [word for parent in each if parent for word in ("-p", parent)]
        args = ["commit-tree", "--no-gpg-sign", *before, "-F", "-", tree]
        text = message.encode(errors="replace")
        with suppress(GitFailed):  # a name that git refuses, for example
            if identity := self._identity:
                return self._write(args, text, identity).decode().strip()
        return self._write(args, text, _signed(NAME, EMAIL)).decode().strip()

    @cached_property
    def _identity(self) -> dict[str, str]:
        settings = self._git.settings()
        name, email = (git_settings.value_of(settings, f"user.{key}") for key in ("name", "email"))
        return _signed(name, email) if name and email else {}

    def note(self, ref: str, commit: str, text: bytes) -> None:
        """Let the notes of `ref` have this text for a commit, in place of one that is there. Raises GitFailed."""
        name = self._write(["hash-object", "-w", "--stdin", "--no-filters"], text).decode().strip()
        identity = self._identity or _signed(NAME, EMAIL)
        self._write(["notes", f"--ref={ref}", "add", "--force", "--reuse-message", name, commit], b"", identity)

    def set_ref(self, ref: str, commit: str) -> None:
        """Let `ref` hold this commit."""
        self._change(ref, "-m", "samuel", ref, commit)

    def transaction(self, lines: Sequence[str], reason: str) -> None:
        """Run the commands of `git update-ref --stdin`. Raises GitFailed, with no ref changed."""
        self._write(
            ["update-ref", "--no-deref", "-m", reason, "--stdin"], "".join(f"{line}\n" for line in lines).encode()
        )

    def _change(self, ref: str, *args: str) -> None:
        try:
            self._write(["update-ref", "--no-deref", *args])
        except GitFailed:
            if not self._sweep(ref):
                raise
            self._write(["update-ref", "--no-deref", *args])

    def _sweep(self, ref: str) -> bool:
        """Remove what keeps a ref from being written: only Samuel writes these.

        That is a lock that a killed git left, a file that is no ref, or a ref with the name of a directory.
        """
        directory, name = os.path.split(ref)
        above = [ref.rsplit("/", count)[0] for count in range(1, ref.count("/") - 1)]
        blocking = [entry for entry in self._names(f"{PREFIX}/") if entry in above or entry.startswith(f"{ref}/")]
        for entry in blocking:
            self._write(["update-ref", "--no-deref", "-d", entry])
        loose = [] if self.find(ref) else [name]
        try:
            fd = make_dirs_inside(self._git.location().shared, directory, mode=0o755)
        except (OSError, UnsafePath):
            return bool(blocking)
        removed = 0
        for file in (f"{name}.lock", *loose):
            with suppress(OSError):
                os.unlink(file, dir_fd=fd)
                removed += 1
        os.close(fd)
        return bool(blocking or removed)

    def _names(self, prefix: str) -> list[str]:
        return list(commits_by_ref(self._git, prefix))

    def _write(self, args: list[str], stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
        self._git.location()
        env = {**self._git.reading_environment, **(variables or {})}
        return self._git.call(args, {**hardening.SETTINGS, "gc.auto": "0"}, stdin=stdin, env=env)


def _signed(name: str, email: str) -> dict[str, str]:
    author = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email}
    return {**author, "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email}


def _entry(line: str) -> KeptRef | None:
    name, commit, tree, parents, at = line.split("\0")
    parts = name.removeprefix(f"{PREFIX}/").split("/")
    is_attempt = len(parts) == 3 and parts[1] not in (WORK, LANDED, AGENT)
    attempt = parts[2] if is_attempt else "0" if parts[1:] in ([VERIFIED], [PERSON]) else ""
    if not attempt.isdecimal() or not tree:
        return None  # not one that Samuel made
    task = unquote(parts[1], errors="surrogateescape") if len(parts) == 3 and parts[1] != "%" else ""
    run = unquote(parts[0], errors="surrogateescape")
    return KeptRef(name, run, task, int(attempt), commit, tree, parents.split(" ")[0], float(at or 0))
