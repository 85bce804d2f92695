"""What every place must do, wherever its commands run.

A place's tests subclass `PlaceContract` and say how to open the place; pytest then runs all of this against it.
The `samuel` of that place is `PROGRAM`, a small program that behaves as its first argument says, below a guard as
`samuel attempt` does:

    echo N      prints its request N times, and ends
    lines N     prints the numbers from 1 to N, and ends
    exit N      prints a line, and ends with exit code N
    large       prints the length of its request
    stay DIR    starts a process in a session of its own, which starts another one; writes the numbers of all three
                to DIR, and works until its input ends
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.length import at_length

from samuel.places.cluster import ClusterChoice
from samuel.places.place import Place, PlaceBroken, PlaceCommand, PlaceConnection, PlaceLost
from samuel.process import procfs

PATIENCE = 120.0  # seconds after which a test gives up: a busy machine is no failure

BELOW = """
import os, subprocess, sys
directory = sys.argv[1]
inner = subprocess.Popen(['sleep', '600'], start_new_session=True)
for name, pid in (('outer', os.getpid()), ('inner', inner.pid)):
    with open(os.path.join(directory, name), 'w') as file:
        file.write(str(pid))
inner.wait()
"""

PROGRAM = f"""#!{sys.executable}
import os, subprocess, sys
from samuel.process.guard import guarded

def stay(directory):
    subprocess.Popen([sys.executable, '-S', '-c', {BELOW!r}, directory], start_new_session=True)
    with open(os.path.join(directory, 'main'), 'w') as file:
        file.write(str(os.getpid()))
    print('working', flush=True)
    while os.read(0, 4096):
        pass
    return 0

def main():
    kind, argument = sys.argv[1], sys.argv[2]
    request = sys.stdin.buffer.readline()
    if kind == 'echo':
        for _ in range(int(argument)):
            sys.stdout.buffer.write(request)
    elif kind == 'lines':
        for number in range(1, int(argument) + 1):
            print(number, flush=number % 100 == 0)
    elif kind == 'exit':
        print('ending', flush=True)
        os._exit(int(argument))
    elif kind == 'large':
        print(len(request))
    elif kind == 'stay':
        return stay(argument)
    return 0

sys.exit(guarded(main))
"""


class PlaceContract:
    def open(self, program: Path) -> Place:
        """The place, with this program as its `samuel`."""
        raise NotImplementedError

    @pytest.fixture
    def place(self, tmp_path: Path) -> Iterator[Place]:
        program = tmp_path / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        place = self.open(program)
        yield place
        place.close()

    def test_place_has_a_name_and_slots_and_no_problem(self, place: Place) -> None:
        assert place.name
        assert place.slots >= 1
        assert place.problem() == ""

    def test_command_reads_its_request_and_its_lines_come_back(self, place: Place) -> None:
        connection = place.start(command("echo", "2", request=b'{"a": "\xc3\xa4 $HOME \'"}\n'))
        assert list(connection.lines()) == [b'{"a": "\xc3\xa4 $HOME \'"}'] * 2

    def test_two_thousand_lines_come_in_order(self, place: Place) -> None:
        connection = place.start(command("lines", "2000"))
        assert [int(line) for line in connection.lines()] == list(range(1, 2001))

    def test_request_may_be_larger_than_any_pipe(self, place: Place) -> None:
        size = at_length(500_000, 8_000_000)
        connection = place.start(command("large", "-", request=b"x" * size + b"\n"))
        assert list(connection.lines()) == [str(size + 1).encode()]

    def test_command_that_fails_gives_its_lines_before_anything_is_raised(self, place: Place) -> None:
        lines = []
        connection = place.start(command("exit", "7"))
        with suppress(PlaceBroken):
            for line in connection.lines():
                lines.append(line)
        assert lines == [b"ending"]

    def test_several_commands_run_at_once(self, place: Place) -> None:
        connections = [place.start(command("echo", "1", request=f"{n}\n".encode())) for n in range(place.slots)]
        assert [list(each.lines()) for each in connections] == [[str(n).encode()] for n in range(place.slots)]

    def test_cancel_ends_the_command_and_a_grandchild_in_a_session_of_its_own(
        self, place: Place, tmp_path: Path
    ) -> None:
        with staying(place, tmp_path) as (connection, pids):
            connection.cancel()
            connection.cancel()
        assert_gone(pids)

    def test_kill_of_the_command_is_a_lost_place_and_leaves_nothing(self, place: Place, tmp_path: Path) -> None:
        with pytest.raises(PlaceLost), staying(place, tmp_path, raises=True) as (_, pids):
            os.kill(pids[0], signal.SIGKILL)
        assert_gone(pids)

    def test_close_ends_what_is_under_way(self, place: Place, tmp_path: Path) -> None:
        with staying(place, tmp_path) as (_, pids):
            place.close()
        assert_gone(pids)


def command(*arguments: str, request: bytes = b"{}\n") -> PlaceCommand:
    return PlaceCommand(arguments, request, ClusterChoice({"agent": 1.0}))


@contextmanager
def staying(place: Place, directory: Path, *, raises: bool = False) -> Iterator[tuple[PlaceConnection, list[int]]]:
    """A command that stays until it is cancelled; its numbers are those of its own and of what it started.

    What its lines raise is raised at the end if `raises` is true.
    """
    connection = place.start(command("stay", str(directory)))
    errors: list[Exception] = []

    def read() -> None:
        try:
            for _ in connection.lines():
                pass
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    files = [directory / name for name in ("main", "outer", "inner")]
    wait_for(lambda: all(file.exists() and file.read_text() for file in files))
    yield connection, [int(file.read_text()) for file in files]
    thread.join(PATIENCE)
    assert not thread.is_alive()
    if raises and errors:
        raise errors[0]


def wait_for(condition: object) -> None:
    assert callable(condition)
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.02)


def assert_gone(pids: list[int]) -> None:
    wait_for(lambda: all((stat := procfs.stat(pid)) is None or stat.dead for pid in pids))
