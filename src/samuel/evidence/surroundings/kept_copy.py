"""Paths of an environment in a directory of Samuel's own, from which the clean room gets them.

What lies there is compared with what was put there before it is used: on a machine without a sandbox, an agent can
write wherever its user can.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from samuel.base.printable import file_name, listed
from samuel.evidence.check_directory import RoomFailed
from samuel.evidence.surroundings.copies import copy, copy_file, relocate, relocate_links, remove, survey_copy
from samuel.evidence.surroundings.surveys import Surveys, load_record, plain_surveys, save_record, stored_surveys
from samuel.files.survey import Signature

MOST_NAMED = 5
MOST_WRITTEN = 500  # files, one by one


class _Manifest(msgspec.Struct):
    linked: bool = False
    paths: Surveys = {}


class KeptCopy:
    """One copy; `room` is where its paths are used."""

    def __init__(self, directory: Path, room: Path) -> None:
        self._directory = directory
        self._room = room
        self._file = directory.with_name(f"{directory.name}.survey")
        self._manifest = self._load()  # a run that was killed goes on with what it took
        self._in_room: dict[str, Mapping[str, Signature]] = {}

    @property
    def is_there(self) -> bool:
        return self._file.exists()

    @property
    def is_linked(self) -> bool:
        """Whether its files are hard links to the originals, and not copies."""
        return self._manifest.linked

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._manifest.paths)

    def take(self, source: Path, surveys: Surveys, *, linked: bool = False, reused: Iterable[str] = ()) -> None:
        """Copy these paths below `source`, with the files of the surveys; `reused` stay as copied before.

        Raises SamuelError.
        """
        before = {path: self._manifest.paths[path] for path in reused}
        for path in before:
            self._verify(path)
        self._file.unlink(missing_ok=True)  # a copy that is killed half-way is no copy
        for path in [*self.paths, *surveys]:
            if path not in before:
                remove(self._directory / path)
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path, files in surveys.items():
            copy(source / path, self._directory / path, links=linked)
            target = self._directory / path
            for name in survey_copy(target).keys() - files.keys():
                remove(target / name)
            relocate(target, source, self._room)
            relocate_links(target, survey_copy(target), source, self._room)
        copied = {path: survey_copy(self._directory / path) for path in surveys}
        self._manifest = _Manifest(linked, {**copied, **before})
        self._in_room.clear()
        self._save()

    def keep(self, paths: Iterable[str]) -> None:
        """Keep these paths as they are in the room, and what was compiled there beside the files of others."""
        for path in paths:
            remove(self._directory / path)
            copy(self._room / path, self._directory / path)
            self._manifest.paths[path] = survey_copy(self._directory / path)
            self._in_room[path] = survey_copy(self._room / path)
        for path in self.paths:
            before, now = self._in_room.get(path, {}), survey_copy(self._room / path)
            changed = [name for name, own in now.items() if own != before.get(name)]
            for name in changed:
                copy_file(self._room / path / name, self._directory / path / name)
            if changed:
                self._manifest.paths[path] = survey_copy(self._directory / path)
            self._in_room[path] = now
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._save()

    def lay_out(self) -> None:
        """Make the paths in the room what they were when they were taken. Raises RoomFailed."""
        for path in self.paths:
            before, now = self._in_room.get(path), survey_copy(self._room / path, is_swept=True)
            if before is not None and now == before:
                continue
            self._verify(path)
            self._restore(path, before, now)
            self._in_room[path] = survey_copy(self._room / path, is_swept=True)
            if self.is_linked:  # another link to a file changes the time of its inode
                self._manifest.paths[path] = survey_copy(self._directory / path)
                self._save()

    def _restore(self, path: str, before: Mapping[str, Signature] | None, now: Mapping[str, Signature]) -> None:
        """Write what differs in the room; all of it where much does, or it is not known."""
        target = self._room / path
        changed = {name for name in (*before, *now) if before.get(name) != now.get(name)} if before else set()
        if not changed or len(changed) > MOST_WRITTEN or self.is_linked:
            remove(target)
            copy(self._directory / path, target, links=self.is_linked)
            return
        for name in sorted(changed & now.keys()):
            remove(target / name)
        for name in sorted(changed & self._manifest.paths[path].keys()):
            copy_file(self._directory / path / name, target / name)

    def withdraw(self) -> None:
        """Remove the paths from the room."""
        for path in self.paths:
            remove(self._room / path)
        self._in_room.clear()

    def discard(self) -> None:
        self._file.unlink(missing_ok=True)
        remove(self._directory)
        self._manifest = _Manifest()
        self._in_room.clear()

    def _verify(self, path: str) -> None:
        before, now = self._manifest.paths[path], survey_copy(self._directory / path)
        if now == before:
            return
        names = {name for name in (*before, *now) if before.get(name) != now.get(name)}
        named = listed([f"`{file_name(os.path.join(path, name))}`" for name in sorted(names)], MOST_NAMED)
        raise RoomFailed(
            f"the environment of the checks was changed since the run began: {named}; "
            "make it anew and start a new run",
            "make it anew and start a new run",
        )

    def _load(self) -> _Manifest:
        manifest = load_record(self._file, _Manifest)
        return _Manifest(manifest.linked, stored_surveys(manifest.paths))

    def _save(self) -> None:
        save_record(self._file, _Manifest(self._manifest.linked, plain_surveys(self._manifest.paths)))
