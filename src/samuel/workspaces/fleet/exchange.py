"""Commits between the coordinator and the machines, by way of the remote of the project.

The coordinator publishes what an attempt begins with. A machine publishes its work and its record under names that
belong to one attempt alone, and the coordinator takes both together or nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from samuel.base.errors import SamuelError
from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import PREFIX, KeptRefs, attempt_ref, part, work_ref
from samuel.git.transport import PushRefused, RemoteRepository, TransferFailed, is_shallow, remote_of
from samuel.history.run import AttemptUnderWay
from samuel.history.tree_state import KeptAttempt
from samuel.workspaces.fleet.patience import patiently
from samuel.workspaces.fleet.records import read_record
from samuel.workspaces.fleet.wire import RefKind, ResultLine, remote_ref

_RECORD = "/record/"


class RemoteAway(SamuelError):
    """The remote of the project cannot be used from here: no machine is to blame."""

    def __init__(self, message: str, hint: str = "", *, passes: bool = True) -> None:
        super().__init__(message, hint)
        self.passes = passes
        """False: it was reached, and refused."""


class Exchange:
    def __init__(self, git: Git, directory: Path, remote: str, run_id: str, patience: float) -> None:
        """Raises SamuelError if the repository has no such remote."""
        self._git = git
        self._run_id = run_id
        self._patience = patience
        self._prefix = f"{PREFIX}/{part(run_id)}"
        named = remote_of(git, remote)
        if is_shallow(git):
            raise SamuelError("this is a shallow clone", "`git fetch --unshallow` completes it")
        self.remote, self.url = remote, named.url
        self._repository = RemoteRepository(git, directory, named.url)
        self._lock = threading.Lock()
        self._published: dict[str, str] = {}

    def publish(self, base: str, task: str = "", last: KeptAttempt | None = None) -> dict[str, str]:
        """Let the remote have a commit, and what the last attempt at a task left; the commits by ref.

        Raises RemoteAway.
        """
        needed = {f"{self._prefix}/base": base}
        if last is not None and last.ref and (commit := self._commit(last.ref)):
            needed[f"{self._prefix}/from/{part(task)}"] = commit
        with self._lock:
            new = {ref: commit for ref, commit in needed.items() if self._published.get(ref) != commit}
            if new:
                self._repository.knows(base)
                refspecs = [f"+{commit}:{ref}" for ref, commit in new.items()]
                try:
                    patiently(partial(self._repository.push, refspecs), lambda: self._patience)
                except (TransferFailed, PushRefused) as error:
                    passes = isinstance(error, TransferFailed)
                    raise RemoteAway(error.message, error.hint, passes=passes) from None
                self._published |= new
        return needed

    def take(self, line: ResultLine, record: AttemptUnderWay) -> ResultLine:
        """Fetch the work that a record is about, or what a failed attempt left, and hold it in refs of this run.

        Raises SamuelError if the two do not fit together: then nothing has succeeded.
        """
        if (line.run_id, line.task, line.attempt, line.iteration) != (
            *(self._run_id, record.task, record.attempt),
            record.iteration,
        ):
            raise SamuelError(
                f"the record is about attempt {line.attempt} at task `{line.task}`, not about this one"
            )
        result = line.result
        if result.work:
            commit = self._fetched(self._name("work", record))
            if commit != result.work:
                raise SamuelError(
                    f"the record names the work {result.work[:12]}, and the work ref has {commit[:12]}"
                )
            if KeptRefs(self._git).tree_of(commit) != result.tree:
                raise SamuelError(f"the record names the tree {result.tree[:12]}, which the work does not have")
            self._require_descent(record.base, commit)
            KeptRefs(self._git).set_ref(work_ref(self._run_id, record.task, record.attempt), commit)
        elif line.last is not None and line.last.ref:
            commit = self._fetched(self._name("kept", record))
            ref = attempt_ref(self._run_id, record.task, record.attempt)
            refs = KeptRefs(self._git)
            refs.set_ref(ref, commit)
            tree = refs.tree_of(commit)
            # Not as the machine says: what a ref of the person's holds would be pushed for the next attempt.
            base = refs.tree_of(f"{commit}~1") or tree
            line = replace(line, last=KeptAttempt(tree, base, ref, line.last.put_back))
        elif line.last is not None:  # it changed nothing
            tree = KeptRefs(self._git).tree_of(record.base)
            line = replace(line, last=KeptAttempt(tree, tree))
        return line

    def find(self, record: AttemptUnderWay, patience: float | None = None) -> ResultLine | None:
        """The record of an attempt that was not listened to; None if the machine came to no result.

        `patience` is how many seconds the remote may be away, instead of those of the settings.
        """
        name = self._name("record", record)
        seconds = self._patience if patience is None else patience
        try:
            if name not in patiently(partial(self._repository.refs, name), lambda: seconds):
                return None
            return self.take(read_record(self._git, self._fetched(name)), record)
        except TransferFailed as error:
            raise RemoteAway(error.message, error.hint) from None

    def remove(self) -> None:
        """Remove the refs of this run from the remote: all of its work has landed."""
        if refs := self._repository.refs(f"{self._prefix}/*"):
            self._repository.push([f":{ref}" for ref in refs])

    def prune(self, runs: Collection[str], has: Callable[[str], bool]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove the refs of these runs whose commits this repository `has`; the refs removed, and those left.

        A record goes with what it is about. Raises TransferFailed or PushRefused.
        """
        prefixes = tuple(f"{PREFIX}/{part(run)}/" for run in runs)
        present = self._repository.refs(f"{PREFIX}/*")
        refs = {ref: commit for ref, commit in present.items() if ref.startswith(prefixes)}
        left = {ref for ref, commit in refs.items() if _RECORD not in ref and not has(commit)}
        left |= {
            ref
            for ref in refs
            if _RECORD in ref and left & {ref.replace(_RECORD, f"/{kind}/", 1) for kind in ("work", "kept")}
        }
        removed = {ref: commit for ref, commit in refs.items() if ref not in left}
        self._repository.delete(removed)
        return tuple(removed), tuple(sorted(left))

    def _name(self, kind: RefKind, record: AttemptUnderWay) -> str:
        return remote_ref(self._prefix, kind, part(record.task), record.attempt, record.iteration)

    def _fetched(self, ref: str) -> str:
        """The commit of a ref of the remote, with its objects here. Raises RemoteAway."""
        with self._lock:
            try:
                return patiently(partial(self._repository.fetched, ref), lambda: self._patience)
            except TransferFailed as error:
                raise RemoteAway(error.message, error.hint) from None

    def _require_descent(self, base: str, commit: str) -> None:
        try:
            self._git.run("merge-base", "--is-ancestor", base, commit)
        except GitFailed:
            raise SamuelError(
                f"the work {commit[:12]} does not build on {base[:12]}, which it was given"
            ) from None

    def _commit(self, ref: str) -> str:
        try:
            return self._git.run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
        except GitFailed:
            return ""


def refuse_exposed(git: Git, copied: Sequence[str]) -> None:
    """Raise SamuelError if git neither has nor ignores one of these files, which lanes copy.

    What an attempt left would hold it, and a machine pushes that.
    """
    if not copied:
        return
    names = [f":(literal){name}" for name in copied]
    output = git.run("ls-files", "-z", "--others", "--exclude-standard", "--", *names)
    if exposed := [os.fsdecode(name) for name in output.split(b"\0") if name]:
        raise SamuelError(
            f"`[lanes] copy` names `{exposed[0]}`, which git does not ignore: machines would push it",
            "add it to .gitignore, and commit that",
        )
