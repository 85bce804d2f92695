"""What checks read outside of the project, where agents run on the host and can write as their user can.

HOME and the settings in directories above the room are noted before the first agent of a run. Checks get a HOME as
it was then. Settings above the room cannot be hidden from checks, so a change there is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from samuel.base.printable import file_name, listed
from samuel.evidence.check_directory import RoomFailed
from samuel.evidence.surroundings.copies import survey_copy
from samuel.evidence.surroundings.home import HomeContent, home_variables, make_home, read_home
from samuel.evidence.surroundings.parents import settings_in
from samuel.evidence.surroundings.surveys import load_record, save_record
from samuel.files.survey import Signature

_MOST_NAMED = 5


class _Record(msgspec.Struct):
    run_id: str = ""
    home: HomeContent = msgspec.field(default_factory=HomeContent)
    parents: dict[str, tuple[int, ...]] = {}


class HostSettings:
    """The settings around the room at `top`; the rooms of one run share what is in `shared`."""

    def __init__(self, shared: Path, directory: Path, top: Path, variables: Mapping[str, str]) -> None:
        """`variables` are those that checks would get; the HOME is made in `directory`."""
        self._file = shared / "host-settings"
        self._home = directory / "home"
        self._outer = [shared, *shared.parents]
        self._inner = [parent for parent in top.parents if parent not in self._outer]
        self._variables = variables
        self._record: _Record | None = None
        self._survey: Mapping[str, Signature] | None = None

    def begin(self, run_id: str) -> None:
        """Note what is there, before the first agent of this run. Idempotent."""
        self._record = load_record(self._file, _Record)
        if self._record.run_id != run_id:
            home = read_home(Path(self._variables.get("HOME", "")))
            self._record = _Record(run_id, home, settings_in(self._outer))
            save_record(self._file, self._record)
        self._survey = None

    def variables(self) -> dict[str, str]:
        """The variables for checks; {} where nothing was noted. Raises RoomFailed if a setting above changed."""
        if self._record is None:
            return {}
        self._refuse_changes(self._record.parents)
        content = self._record.home
        if not content.files and not content.links:
            return {}
        if self._survey is None or survey_copy(self._home) != self._survey:
            make_home(self._home, content)
            self._survey = survey_copy(self._home)
        return home_variables(self._home, self._variables)

    def _refuse_changes(self, before: Mapping[str, Signature]) -> None:
        now = {**settings_in(self._outer), **settings_in(self._inner)}
        if now == before:
            return
        changed = sorted(path for path in {*now, *before} if now.get(path) != before.get(path))
        named = listed([f"`{file_name(path)}`" for path in changed], _MOST_NAMED)
        raise RoomFailed(
            f"{named} changed since the run began, and checks would read it: put it back as it was; "
            "if it is yours, start a new run",
            "put it back as it was, or start a new run",
        )
