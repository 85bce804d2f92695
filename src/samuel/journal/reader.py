"""Reads the journal. A torn last line, or a line that is not a record, is skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from samuel.base.decoding import json_decoder
from samuel.base.errors import SamuelError
from samuel.files.inside import open_inside
from samuel.files.regular import lines_backwards
from samuel.journal.records import CallRecord, EndRecord, EventRecord, Record
from samuel.journal.writer import oldest_first

_decode = json_decoder(EventRecord | CallRecord | EndRecord)


def newest_first(root: Path, journal_dir: Path) -> Iterator[Record]:
    """Every record, the newest first. Each part of a segment is read only when the iteration reaches it."""
    parts = journal_dir.relative_to(root).parts
    try:
        directory = open_inside(root, *parts, flags=os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, SamuelError):
        return
    try:
        names = oldest_first(directory)
    finally:
        os.close(directory)
    for name in reversed(names):
        yield from _segment(root, parts, name)


def _segment(root: Path, parts: tuple[str, ...], name: str) -> Iterator[Record]:
    try:
        fd = open_inside(root, *parts, name, flags=os.O_RDONLY)
    except (OSError, SamuelError):
        return
    try:
        for line in lines_backwards(fd):
            try:
                record = _decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
            yield record
    finally:
        os.close(fd)
