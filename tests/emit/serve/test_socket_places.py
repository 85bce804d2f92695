"""Where sockets may be: what is wrong with these directories is said, with what to do."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.emit.serve.client_program import ClientProgram, client_program
from samuel.emit.serve.socket_name import candidates
from samuel.emit.serve.socket_places import PlaceProblem, place_problems, usable_directory

PROJECT = "/project"


@pytest.fixture
def runtime() -> Iterator[Path]:
    """The user's runtime directory, with a short name."""
    with tempfile.TemporaryDirectory(prefix="places") as directory:
        yield Path(directory)


def problems(runtime: Path) -> list[PlaceProblem]:
    """What is wrong, apart from the directory in /tmp, which belongs to the user who runs the tests."""
    own = list(place_problems({b"XDG_RUNTIME_DIR": os.fsencode(runtime)}, PROJECT))
    return [problem for problem in own if "`/tmp/samuel-" not in problem.what]


def test_a_directory_that_can_be_made_is_no_problem(runtime):
    assert problems(runtime) == []
    assert usable_directory({b"XDG_RUNTIME_DIR": os.fsencode(runtime)}, PROJECT) == f"{runtime}/samuel"
    assert not (runtime / "samuel").exists()


def test_a_directory_that_others_can_enter_is_not_used(runtime):
    place = runtime / "samuel"
    place.mkdir()
    place.chmod(0o755)
    what = f"`{place}` can be entered by others, and is not used"
    assert problems(runtime) == [PlaceProblem(what, f"`chmod 700 {place}`")]
    assert usable_directory({b"XDG_RUNTIME_DIR": os.fsencode(runtime)}, PROJECT) != str(place)


def test_a_link_in_place_of_the_directory_is_not_used(runtime):
    place = runtime / "samuel"
    place.symlink_to(runtime)
    what = f"`{place}` is not a directory, and is not used"
    assert problems(runtime) == [PlaceProblem(what, f"remove it: `rm {place}`")]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_not_used(runtime):
    place = runtime / "samuel"
    place.mkdir(mode=0o700)
    os.chown(place, 65534, 65534)
    [problem] = problems(runtime)
    assert problem.what == f"`{place}` belongs to another user, and is not used"
    assert not problem.harmless


def test_sockets_without_a_server_are_counted(runtime):
    place = runtime / "samuel"
    place.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as gone, socket.socket(socket.AF_UNIX) as alive:
        gone.bind(str(place / "a.sock"))
        alive.bind(str(place / "b.sock"))
        alive.listen()
        gone.close()
        [problem] = problems(runtime)
    assert problem.what == f"`{place}` has sockets of servers that are gone, as after a crash: 1"
    assert problem.harmless


def test_a_path_that_is_too_long_names_the_other_place(runtime):
    long = runtime / ("x" * 100)
    environment = {b"XDG_RUNTIME_DIR": os.fsencode(long)}
    [temporary] = candidates(environment, PROJECT)
    first = next(place_problems(environment, PROJECT))
    assert first.what.startswith(
        "`XDG_RUNTIME_DIR` is in the project, is missing, or makes a path of over 107 bytes"
    )
    if chosen := usable_directory(environment, PROJECT):
        assert chosen == temporary
        assert first.what.endswith(f"; servers listen in `{temporary}`")


def test_client_program_is_told_by_its_first_bytes(tmp_path):
    assert client_program(str(tmp_path)) is ClientProgram.MISSING
    program = tmp_path / "samuel-emit"
    program.write_text("#!/usr/bin/python3\n")
    assert client_program(str(tmp_path)) is ClientProgram.PYTHON
    for magic in (b"\x7fELF\x02", b"\xcf\xfa\xed\xfe\x07", b"\xca\xfe\xba\xbe\x00"):
        program.write_bytes(magic)
        assert client_program(str(tmp_path)) is ClientProgram.NATIVE
