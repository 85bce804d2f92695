"""Which projects of this user have a run: each record of runs says where its project is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.paths import record_name
from samuel.files import atomic
from samuel.files.atomic import DISK, Disk
from samuel.files.regular import read_regular

FILE = "project.json"


class ProjectRecord(msgspec.Struct, frozen=True):
    """Where the runs of a record belong."""

    root: str
    state: str
    """The state directory of the runs."""
    methodology: str


def save_project(record: Path, project: ProjectRecord, disk: Disk = DISK) -> None:
    """Save the project of a record, if that is not saved yet. Raises OSError."""
    if _load(record) != project:
        atomic.write_bytes(record / FILE, msgspec.json.encode(project), 0o600, durable=False, disk=disk)


def recorded_projects(records: Path) -> Iterator[tuple[str, ProjectRecord]]:
    """The projects that are where they were when their last run began, each with the name of its record."""
    try:
        names = sorted(os.listdir(records))
    except OSError:
        return
    for name in names:
        project = _load(records / name)
        if project is not None and record_name(Path(project.state)) == name and os.path.isdir(project.state):
            yield name, project


def _load(record: Path) -> ProjectRecord | None:
    with suppress(OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return decode_json(read_regular(record / FILE), ProjectRecord)
    return None
