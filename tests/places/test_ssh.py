"""The place behind ssh keeps the contract of all places: an sshd of the test's own, on loopback."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.places.contract import PROGRAM, PlaceContract, assert_gone, command, staying
from tests.workspaces.fleet.machines import SshMachines, ssh_machines

from samuel.base.errors import SamuelError
from samuel.config.place_spec import place_spec
from samuel.places.place import Place, PlaceBroken, PlaceLost
from samuel.places.ssh import SshPlace, quoted_program
from samuel.process import procfs


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory, fast_samuel: Path) -> Iterator[SshMachines]:
    with ssh_machines(tmp_path_factory.mktemp("ssh") / "machines", fast_samuel) as machines:
        machines.use(tmp_path_factory.mktemp("homes"))
        yield machines


@pytest.mark.sampled(every=4)
class TestSshPlace(PlaceContract):
    @pytest.fixture(autouse=True)
    def _ssh(self, machines: SshMachines, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", f"{machines.bin}:{os.environ['PATH']}")

    def open(self, program: Path) -> Place:
        return SshPlace(place_spec("ssh:m1:3"), str(program), 60.0)

    def test_program_that_is_not_there_is_a_broken_place(self, tmp_path: Path) -> None:
        place = SshPlace(place_spec("ssh:m1:1"), str(tmp_path / "no such program"), 60.0)
        with pytest.raises(PlaceBroken, match="was not found at `ssh:m1`"):
            list(place.start(command("lines", "1")).lines())

    def test_machine_without_ssh_is_a_broken_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        place = SshPlace(place_spec("ssh:m1:1"), "samuel", 60.0)
        with pytest.raises(PlaceBroken, match="`ssh` cannot be started"):
            place.start(command("lines", "1"))

    def test_host_that_is_not_known_is_named(self) -> None:
        place = SshPlace(place_spec("ssh:nowhere.invalid:1"), "samuel", 60.0)
        # Broken, or lost where there is no name server that could know it.
        with pytest.raises((PlaceBroken, PlaceLost), match=r"nowhere\.invalid"):
            list(place.start(command("lines", "1")).lines())

    def test_program_that_does_not_know_the_command_is_a_broken_place(self, tmp_path: Path) -> None:
        program = tmp_path / "old"
        program.write_text("#!/bin/sh\necho \"Error: No such command 'attempt'.\" >&2\nexit 2\n")
        program.chmod(0o755)
        with pytest.raises(PlaceBroken, match="exit code 2: Error: No such command") as error:
            list(SshPlace(place_spec("ssh:m1:1"), str(program), 60.0).start(command("lines", "1")).lines())
        assert "the same version" in error.value.hint

    @pytest.mark.slow
    def test_end_of_one_command_ends_no_other_where_the_user_shares_connections(
        self, machines: SshMachines, tmp_path: Path
    ) -> None:
        config = machines.directory / "config"
        before = config.read_text()
        sockets = Path(tempfile.mkdtemp(prefix="s", dir="/tmp"))  # the path of a socket is short
        shared = f"ControlMaster auto\n  ControlPath {sockets}/%C\n  ControlPersist 5\n"
        config.write_text(f"{before}Host *\n  {shared}")
        program = tmp_path / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        place = SshPlace(place_spec("ssh:m1:2"), str(program), 60.0)
        directories = [tmp_path / name for name in ("first", "second")]
        try:
            for directory in directories:
                directory.mkdir()
            with (
                staying(place, directories[0]) as (first, first_pids),
                staying(place, directories[1]) as (second, second_pids),
            ):
                assert list(sockets.iterdir()) == [], "no command of Samuel's is the master of others"
                first.cancel()
                assert_gone(first_pids)
                assert not any((stat := procfs.stat(pid)) is None or stat.dead for pid in second_pids)
                second.cancel()
            assert_gone(second_pids)
        finally:
            config.write_text(before)
            shutil.rmtree(sockets)

    @pytest.mark.slow
    def test_server_that_is_away_is_a_lost_place(self, machines: SshMachines) -> None:
        machines.stop()
        try:
            with pytest.raises(PlaceLost, match="the connection to `ssh:m1` is gone"):
                list(SshPlace(place_spec("ssh:m1:1"), "samuel", 60.0).start(command("lines", "1")).lines())
        finally:
            machines.start()


@pytest.mark.parametrize(
    ("stderr", "kind"),
    [
        ("ssh: Could not resolve hostname m1: Name or service not known", PlaceBroken),
        ("ssh: Could not resolve hostname m1: Temporary failure in name resolution", PlaceLost),
        ("me@m1: Permission denied (publickey).", PlaceBroken),
        ("bash: /etc/profile.d/x: Permission denied\nConnection to m1 closed by remote host.", PlaceLost),
    ],
)
def test_last_line_of_ssh_decides_whether_it_may_work_later(stderr: str, kind: type[SamuelError]) -> None:
    error = SshPlace(place_spec("ssh:m1:1"), "samuel", 60.0).judge(255, stderr)
    assert type(error) is kind


def test_program_is_quoted_for_the_shell_there() -> None:
    assert quoted_program("~/my programs/samuel") == "~/'my programs/samuel'"
    assert quoted_program("/opt/$(id)/samuel") == "'/opt/$(id)/samuel'"
