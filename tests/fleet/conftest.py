"""Machines and projects for the tests of fleets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fleet.machines import SshMachines, ssh_machines
from tests.fleet.project import FleetProject


@pytest.fixture
def machines(
    tmp_path: Path, fast_samuel: Path, with_compiled_python: Callable[[Path], None]
) -> Iterator[SshMachines]:
    with ssh_machines(tmp_path / "machines", fast_samuel) as machines:
        for name in machines.names:
            with_compiled_python(machines.home(name) / "cache")
        yield machines


@pytest.fixture
def fleet(
    tmp_path: Path, fast_samuel: Path, machines: SshMachines, with_compiled_python: Callable[[Path], None]
) -> FleetProject:
    home = tmp_path / "home"
    home.mkdir()
    with_compiled_python(home / "cache")
    return FleetProject(tmp_path, fast_samuel, home, machines)
