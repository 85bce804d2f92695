"""Machines and projects for the tests of fleets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.workspaces.fleet.machines import SshMachines, ssh_machines
from tests.workspaces.fleet.project import FleetProject


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory, fast_samuel: Path) -> Iterator[SshMachines]:
    with ssh_machines(tmp_path_factory.mktemp("ssh") / "machines", fast_samuel) as machines:
        yield machines


@pytest.fixture
def machines(tmp_path: Path, sshd: SshMachines, with_compiled_python: Callable[[Path], None]) -> SshMachines:
    """Three machines with new homes."""
    sshd.use(tmp_path / "homes")
    for name in sshd.names:
        with_compiled_python(sshd.home(name) / "cache")
    return sshd


@pytest.fixture
def fleet(
    tmp_path: Path, fast_samuel: Path, machines: SshMachines, with_compiled_python: Callable[[Path], None]
) -> FleetProject:
    home = tmp_path / "home"
    home.mkdir()
    with_compiled_python(home / "cache")
    return FleetProject(tmp_path, fast_samuel, home, machines)
