"""Receipts as git notes: `git notes --ref=samuel show COMMIT` prints the one of a commit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import NOTES, KeptRefs
from samuel.git.worktrees import sweep_shared_locks
from samuel.receipts.canonical import digest_of
from samuel.receipts.statement import (
    LARGEST,
    ReceiptBroken,
    read_statement,
    statement,
    trailer_digests,
    why_not_of,
)

_TRIES = 5  # another run may write a note at the same moment


class ReceiptNotes:
    """The notes with receipts in the repository of `git`."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._refs = KeptRefs(git)

    def read(self, commit: str) -> bytes | None:
        """The note of a commit; None if it has none."""
        try:
            name = self._git.run("notes", f"--ref={NOTES}", "list", commit).decode().strip()
            return self._git.run("cat-file", "blob", name)[: LARGEST + 1]
        except GitFailed:
            return None

    def write(self, commit: str, predicate: dict[str, Any]) -> bool:
        """Give a commit its receipt. Idempotent. False if the commit does not have the predicate's digest.

        Raises GitFailed.
        """
        tree, message = self.facts(commit)
        if trailer_digests(message) != [digest_of(predicate)]:
            return False
        text = json.dumps(statement(predicate, commit, tree), ensure_ascii=False, indent=1).encode() + b"\n"
        for attempt in range(_TRIES):
            if self.read(commit) == text:
                break
            try:
                self._refs.note(NOTES, commit, text)
            except GitFailed:
                if attempt == _TRIES - 1:
                    raise
                sweep_shared_locks(self._git, [f"{NOTES}.lock"])  # that a killed git left
        return True

    def blobs(self) -> dict[str, str]:
        """The blob of each note, by its commit."""
        try:
            lines = self._git.run("notes", f"--ref={NOTES}", "list").decode().splitlines()
        except GitFailed:
            return {}
        return {commit: blob for blob, _, commit in (line.partition(" ") for line in lines)}

    def restore(self, blobs: Mapping[str, str]) -> list[str]:
        """Give commits the receipts that they had, if these are theirs; gives the commits. Raises GitFailed."""
        restored = []
        now = self.blobs()
        for commit in (commit for commit, blob in blobs.items() if now.get(commit) != blob):
            try:
                text = self._git.run("cat-file", "blob", blobs[commit])
                is_of_commit = not why_not_of(read_statement(text), commit, *self.facts(commit))
            except (GitFailed, ReceiptBroken):  # the note of a person, or of a commit that is gone
                continue
            if is_of_commit:
                self._refs.note(NOTES, commit, text)
                restored.append(commit)
        return restored

    def facts(self, commit: str) -> tuple[str, str]:
        """The tree and the message of a commit. Raises GitFailed."""
        output = self._git.run("log", "-1", "--no-notes", "--format=%T%n%B", commit).decode("utf-8", "replace")
        tree, _, message = output.partition("\n")
        return tree, message
