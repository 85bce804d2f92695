"""The history of one run, read as it grows."""

from __future__ import annotations

from pathlib import Path

import msgspec

from samuel.base.decoding import json_decoder
from samuel.files.tail import FileTail
from samuel.history.attempt_record import AttemptRecord, RunRecord
from samuel.history.history import MOST_BYTES, HistoryLine, RunHistory, history_file

_decode = json_decoder(HistoryLine)


class HistoryTail:
    def __init__(self, directory: Path, run_id: str) -> None:
        """`directory` is that of the record, or of the state where there is no record."""
        self._tail = FileTail(directory, history_file(run_id), 2 * MOST_BYTES)
        self._run: RunRecord | None = None
        self._attempts: dict[int, AttemptRecord] = {}

    def look(self) -> bool:
        """Read what is new; whether anything is."""
        new = self._tail.read()
        if new.is_new_file:
            self._run, self._attempts = None, {}
        for data in new.lines:
            try:
                line = _decode(data)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue
            self._run = line.run or self._run
            if line.attempt is not None:
                self._attempts[line.attempt.iteration] = line.attempt
        return bool(new.lines) or new.is_new_file

    @property
    def history(self) -> RunHistory | None:
        """What is recorded of the run; None if nothing is."""
        if self._run is None:
            return None
        return RunHistory(self._run, tuple(self._attempts[number] for number in sorted(self._attempts)))
