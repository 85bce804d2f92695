"""What two states of an index have that is not the same, and bringing an index along when HEAD moves."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.git import hardening
from samuel.git.git import Git

SKIPPED = "skip-worktree"


class IndexEntry(NamedTuple):
    flag: str
    """`H`, `S` (skip-worktree), or one of them in lower case (assume-unchanged)."""
    mode: str
    object: str


def index_entries(git: Git, index: Path) -> dict[str, IndexEntry]:
    """What an index file has, by path from the top of the work tree; of a conflict, the last stage."""
    output = _call(git, "ls-files", "-v", "-s", "-z", "--full-name", ":/", index=index)
    entries = {}
    for line in output.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        flag, mode, name, _ = facts.decode().split(" ")
        entries[os.fsdecode(path)] = IndexEntry(flag, mode, name)
    return entries


def hidden_paths(before: Mapping[str, IndexEntry], after: Mapping[str, IndexEntry]) -> Iterator[tuple[str, str]]:
    """The paths that an index hides from git, and did not before; each with the flag."""
    for path, entry in after.items():
        old = before.get(path)
        if entry.flag.islower() and not (old and old.flag.islower()):
            yield path, "assume-unchanged"
        if entry.flag.upper() == "S" and not (old and old.flag.upper() == "S"):
            yield path, SKIPPED


def follow_head(git: Git, old: str, new: str) -> None:
    """Make the index, which is as it was at commit `old`, fit the commit `new`. Raises GitFailed.

    A path that it has as in `old` becomes what it is in `new`; every other entry is a person's, and stays.
    """
    output = git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", old or git.empty_tree(), new)
    fields = output.split(b"\0")[:-1]
    current = index_entries(git, git.index_file)
    lines = []
    for facts, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_object, new_object, _ = facts[1:].decode().split(" ")
        entry = current.get(os.fsdecode(path))
        if (entry.mode, entry.object) == (old_mode, old_object) if entry else set(old_object) == {"0"}:
            lines.append((set(new_object) != {"0"}, f"{new_mode} {new_object}\t".encode() + path + b"\0"))
    if lines:
        # Removals first: a name may be that of a file and of a directory.
        info = b"".join(line for _, line in sorted(lines))
        _call(git, "update-index", "--replace", "-z", "--index-info", stdin=info)


def _call(git: Git, *args: str, index: Path | None = None, stdin: bytes = b"") -> bytes:
    env = {**git.owner_environment, **hardening.ENVIRONMENT}
    if index is not None:
        env["GIT_INDEX_FILE"] = str(index)
    return git.call(list(args), hardening.SETTINGS, stdin=stdin, env=env)
