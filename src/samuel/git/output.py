"""What git prints for programs, as records."""

from __future__ import annotations

import os
from typing import NamedTuple

_FIELDS_BEFORE_PATH = {b"1": 8, b"2": 9, b"u": 10}  # of a line of porcelain v2


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
