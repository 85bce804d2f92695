"""What two states of an index have that is not the same, and bringing an index along when HEAD moves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.git import hardening
from samuel.git.git import Git, GitFailed

SUBMODULE = "160000"
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


def index_tree(git: Git, copy: Path) -> str:
    """A tree that holds every object of the index: `git gc` keeps them if a ref has it. Raises GitFailed, OSError.

    `copy` is a file that is written and removed: git would write into the index itself.
    """
    try:
        shutil.copyfile(git.index_file, copy)
        try:
            return _call(git, "write-tree", "--missing-ok", index=copy).decode().strip()
        except GitFailed:  # there is a conflict, which is no tree
            rows = _call(git, "ls-files", "-s", "-z", "--full-name", ":/", index=copy).split(b"\0")[:-1]
            facts = (row.partition(b"\t")[0].decode().split(" ") for row in rows)
            objects = sorted({name for mode, name, _ in facts if mode != SUBMODULE})
            lines = "".join(f"100644 blob {name}\t{name}\0" for name in objects)
            return _call(git, "mktree", "--missing", "-z", stdin=lines.encode()).decode().strip()
    finally:
        copy.unlink(missing_ok=True)


def follow_head(git: Git, old: str, new: str, leave: Collection[str] = ()) -> tuple[str, ...]:
    """Make the index, which is as it was at commit `old`, fit the commit `new`. Raises GitFailed.

    A path that it has as in `old` becomes what it is in `new`. Every other entry is a person's, and stays, and so
    do those in `leave`; gives their paths.
    """
    output = git.run(
        "diff-tree", "-r", "-z", "--no-renames", "--raw", old or git.empty_tree(), new or git.empty_tree()
    )
    fields = output.split(b"\0")[:-1]
    current = index_entries(git, git.index_file)
    lines, left = [], []
    for facts, name in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_object, new_object, _ = facts[1:].decode().split(" ")
        path = os.fsdecode(name)
        entry = current.get(path)
        is_old = (entry.mode, entry.object) == (old_mode, old_object) if entry else set(old_object) == {"0"}
        if is_old and path not in leave:
            lines.append((set(new_object) != {"0"}, f"{new_mode} {new_object}\t".encode() + name + b"\0"))
        else:
            left.append(path)
    # Removals first: a name may be that of a file and of a directory.
    _write(git, [line for _, line in sorted(lines)])
    return tuple(left)


def write_entries(git: Git, entries: Mapping[str, IndexEntry | None]) -> None:
    """Give the index these entries, without flags; None removes one. Raises GitFailed."""
    lines = [
        (f"{entry.mode} {entry.object}\t" if entry else f"0 {'0' * 40}\t").encode() + os.fsencode(path) + b"\0"
        for path, entry in sorted(entries.items(), key=lambda item: item[1] is not None)
    ]
    _write(git, lines)


def _write(git: Git, lines: Sequence[bytes]) -> None:
    if lines:
        _call(git, "update-index", "--replace", "-z", "--index-info", stdin=b"".join(lines))


def _call(git: Git, *args: str, index: Path | None = None, stdin: bytes = b"") -> bytes:
    env = {**git.owner_environment, **hardening.ENVIRONMENT}
    if index is not None:
        env["GIT_INDEX_FILE"] = str(index)
    return git.call(list(args), hardening.SETTINGS, stdin=stdin, env=env)
