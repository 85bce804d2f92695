"""What git prints for programs, as records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

_FIELDS_BEFORE_PATH = {b"1": 8, b"2": 9, b"u": 10}  # of a line of porcelain v2
GITLINK = "160000"
LINK = "120000"
EXECUTABLE = "100755"


class GitStatusEntry(NamedTuple):
    """One line of `git status`. The letters are `M`, `T`, `A`, `D`, `U` (a conflict), `?` or `.` (the same)."""

    path: str
    """Relative to the root we were given. Bytes that are no UTF-8 are as `os.fsdecode` has them."""
    staged: str
    """How the index differs from HEAD."""
    unstaged: str
    """How the work tree differs from the index; `?` for what is not tracked."""


class GitStatus(NamedTuple):
    head: str  # "" before the first commit
    branch: str  # "" when detached
    entries: list[GitStatusEntry]


class GitCommit(NamedTuple):
    id: str
    date: str
    subject: str
    paths: list[str]  # what it touched; nothing for a merge and for the first commit


def parse_status(output: bytes, prefix: bytes) -> GitStatus:
    facts = {b"branch.oid": "", b"branch.head": ""}
    entries = []
    for line in output.split(b"\0")[:-1]:
        kind = line[:1]
        if kind == b"#":
            name, _, value = line[2:].partition(b" ")
            facts[name] = "" if value in (b"(initial)", b"(detached)") else value.decode(errors="replace")
        elif kind == b"?":
            if not line.endswith(b"/"):  # another repository inside this one
                entries.append(GitStatusEntry(os.fsdecode(line[2:].removeprefix(prefix)), "?", "?"))
        else:
            codes, path = line[2:4].decode(), line.split(b" ", _FIELDS_BEFORE_PATH[kind])[-1]
            entries.append(GitStatusEntry(os.fsdecode(path.removeprefix(prefix)), codes[0], codes[1]))
    return GitStatus(facts[b"branch.oid"], facts[b"branch.head"], entries)


def parse_log(output: bytes) -> list[GitCommit]:
    commits: list[GitCommit] = []
    begins = True
    for field in output.split(b"\0"):
        if field and begins:
            id, date, subject = field.decode(errors="replace").split(" ", 2)
            commits.append(GitCommit(id, date, subject, []))
        elif field:
            commits[-1].paths.append(os.fsdecode(field.removeprefix(b"\n")))
        begins = not field
    return commits


class TreeChange(NamedTuple):
    """One path that differs between two trees."""

    path: str
    status: str
    """`A` added, `D` deleted, `M` modified, `T` its type changed."""
    added: int | None
    """Lines; None for a binary file."""
    removed: int | None


class TreeEntry(NamedTuple):
    """A file, a link or a submodule in a tree."""

    path: str
    mode: str
    object: str
    size: int
    """Bytes; 0 for a submodule, and for an object that git does not have."""


def parse_changes(output: bytes) -> list[TreeChange]:
    """What `diff-tree -r -z --raw --numstat --no-renames` printed."""
    fields = iter(output.split(b"\0")[:-1])
    statuses: dict[bytes, str] = {}
    changes = []
    for field in fields:
        if field.startswith(b":"):
            statuses[next(fields)] = field[-1:].decode()
        else:
            added, removed, path = field.split(b"\t", 2)
            changes.append(TreeChange(os.fsdecode(path), statuses[path], _number(added), _number(removed)))
    return changes


def parse_changed_entries(output: bytes) -> dict[str, TreeEntry | None]:
    """What `diff-tree -r -z --raw --no-renames --no-abbrev` printed: the second tree's side of each path.

    It prints no sizes: they are 0.
    """
    fields = iter(output.split(b"\0")[:-1])
    entries: dict[str, TreeEntry | None] = {}
    for facts in fields:
        path = os.fsdecode(next(fields))
        _, mode, _, name, status = facts.decode().split()
        entries[path] = TreeEntry(path, mode, name, 0) if status != "D" else None
    return entries


def parse_entries(output: bytes) -> Iterator[TreeEntry]:
    """What `ls-tree -r -l -z` printed."""
    for line in output.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, name, size = facts.decode().split()
        yield TreeEntry(os.fsdecode(path), mode, name, int(size) if size.isdecimal() else 0)


def parse_blobs(output: bytes) -> Iterator[bytes | None]:
    """What `cat-file --batch` printed, in the order that was asked for; None for what is missing or no blob."""
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        header = output[position:end]
        if header.endswith(b" missing"):
            yield None
            position = end + 1
        else:
            _, kind, length = header.split(b" ")
            size = int(length)
            yield output[end + 1 : end + 1 + size] if kind == b"blob" else None
            position = end + size + 2


def _number(field: bytes) -> int | None:
    return None if field == b"-" else int(field)
