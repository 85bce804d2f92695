"""A place whose commands are processes of this machine keeps the contract of all places."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.places.contract import PlaceContract, assert_gone, command, staying

from samuel.places.place import Place, PlaceCommand, PlaceLost
from samuel.places.process import ProcessConnection
from samuel.process import spawn


class ProcessPlace:
    """A place whose commands are processes of this machine."""

    def __init__(self, program: Path, silence: float | None = None) -> None:
        self.name, self.slots = "process", 3
        self._program, self._silence = str(program), silence
        self._connections: list[ProcessConnection] = []

    def start(self, command: PlaceCommand) -> ProcessConnection:
        process = spawn.start([self._program, *command.arguments], cwd="/", env=os.environ)
        connection = ProcessConnection(process, command.request, self._judge, self._silence, self.name)
        self._connections.append(connection)
        return connection

    def problem(self) -> str:
        return ""

    def close(self) -> None:
        for connection in self._connections:
            connection.cancel()

    def _judge(self, code: int, stderr: str) -> PlaceLost | None:
        return PlaceLost(f"killed: {stderr}") if code < 0 or code > 128 else None


class TestProcessPlace(PlaceContract):
    def open(self, program: Path) -> Place:
        return ProcessPlace(program)

    def test_silence_of_a_machine_is_a_lost_place(self, place: Place, tmp_path: Path) -> None:
        quiet = ProcessPlace(tmp_path / "program", silence=0.5)
        with pytest.raises(PlaceLost, match="nothing was heard"):
            freeze(quiet, tmp_path)

    def test_reader_that_is_slow_does_not_make_a_machine_silent(self, tmp_path: Path) -> None:
        program = tmp_path / "steady"
        program.write_text("#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done\n")
        program.chmod(0o755)
        place = ProcessPlace(program, silence=0.5)
        lines = []
        for line in place.start(command()).lines():
            lines.append(int(line))
            if len(lines) == 2:
                time.sleep(1.2)
        assert lines == list(range(1, 9))


def freeze(place: Place, directory: Path) -> None:
    """Freeze a command; what its lines raise is raised when its processes are gone."""
    pids: list[int] = []
    try:
        with staying(place, directory, raises=True) as (_, pids):
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        assert_gone(pids)
