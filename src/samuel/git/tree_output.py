"""What git prints about tree objects, as records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

GITLINK = "160000"
LINK = "120000"
EXECUTABLE = "100755"


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


def parse_entries(output: bytes) -> Iterator[TreeEntry]:
    """What `ls-tree -r -l -z` printed."""
    for line in output.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, name, size = facts.decode().split()
        yield TreeEntry(os.fsdecode(path), mode, name, int(size) if size.isdecimal() else 0)


def parse_blobs(output: bytes) -> Iterator[bytes | None]:
    """What `cat-file --batch` printed, in the order that was asked for; None for a missing object."""
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        header = output[position:end]
        if header.endswith(b" missing"):
            yield None
            position = end + 1
        else:
            size = int(header.rsplit(b" ", 1)[1])
            yield output[end + 1 : end + 1 + size]
            position = end + size + 2


def _number(field: bytes) -> int | None:
    return None if field == b"-" else int(field)
