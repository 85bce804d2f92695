"""The environment in the work tree itself, and what agents changed in it since it was copied.

Checks use the copy, so a change has no effect on this run. It is named all the same, and a later run does not take
it over: `.venv/bin/pytest` as an agent left it is not the user's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from samuel.evidence.surroundings.copies import survey_copy
from samuel.evidence.surroundings.surveys import Surveys, load_record, plain_surveys, save_record, stored_surveys
from samuel.files.survey import Signature, signature

_CODE = (
    *(".py", ".pyc", ".pth", ".so", ".js", ".mjs", ".cjs", ".ts", ".json", ".node", ".wasm", ".jar", ".class"),
    *(".rb", ".php", ".pl", ".sh", ".dll", ".dylib", ".toml", ".ini", ".cfg", ".txt"),
)
_COMPILED = ".pyc"


class _Record(msgspec.Struct):
    before: Surveys = {}
    left: Surveys = {}


class OwnEnvironment:
    """The paths of the environment below `top`; `file` keeps what is known of them."""

    def __init__(self, top: Path, file: Path) -> None:
        self._top = top
        self._file = file
        record = load_record(file, _Record)
        self._before = stored_surveys(record.before)
        self._left = stored_surveys(record.left)

    def survey(self, paths: Iterable[str]) -> Surveys:
        """These paths as they are now, without what was compiled since they were last copied.

        Python loads a compiled file that fits its source by name, size and time, so one may hold anything.
        """
        surveys = {path: survey_copy(self._top / path) for path in paths}
        for path, files in surveys.items():
            if before := self._before.get(path):
                new = [name for name in files if name.endswith(_COMPILED) and name not in before]
                for name in new:
                    del files[name]
        return surveys

    def changed_by_agents(self) -> dict[str, list[str]]:
        """The files that are still as an agent left them, by path of the environment."""
        changed: dict[str, list[str]] = {}
        for path, files in self._left.items():
            names = [name for name, own in files.items() if own and self._signature(path, name) == own]
            if names:
                changed[path] = names
        return changed

    def taken(self, surveys: Surveys, reused: Iterable[str]) -> None:
        """Note that these paths were copied, and that of those in `reused` the last copy is used again."""
        self._before = {**surveys, **{path: self._before[path] for path in reused}}
        self._left = {path: self._left[path] for path in reused}
        self._save()

    def look(self) -> list[str]:
        """The files that changed since the last look, from the top: those that a program can run or load."""
        changed: list[str] = []
        for path, before in self._before.items():
            now = survey_copy(self._top / path)
            left = self._left.get(path, {})
            current: dict[str, Signature] = {}
            if now != before:
                for name in before.keys() | now.keys():
                    own = now.get(name, ())
                    if own != before.get(name, ()) and _counts(path, name, before.get(name, ()), own):
                        current[name] = own
            changed += (
                os.path.join(path, name) if name else path for name in current if current[name] != left.get(name)
            )
            self._left[path] = current
        if changed:
            self._save()
        return sorted(changed)

    def _signature(self, path: str, name: str) -> Signature:
        try:
            return signature(os.lstat(self._top / path / name))
        except OSError:
            return ()

    def _save(self) -> None:
        save_record(self._file, _Record(plain_surveys(self._before), plain_surveys(self._left)))


def _counts(path: str, name: str, before: Signature, now: Signature) -> bool:
    """Whether a program may run or load this file. What Python compiles where nothing was is no change."""
    if not before and name.endswith(_COMPILED):
        return False
    mode = (now or before)[-1]
    return bool(mode & 0o111 and not stat.S_ISDIR(mode)) or (name or path).endswith(_CODE)
