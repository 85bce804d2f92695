from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.run.conftest import Workshop
from tests.dashboard.browser import PROGRAM, Browser, browsing
from tests.dashboard.server_process import DashboardProcess


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, and a home of its own."""
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    return root


@pytest.fixture
def workshop(project: Path) -> Workshop:
    return Workshop(project)


@pytest.fixture
def servers() -> Iterator[list[DashboardProcess]]:
    """The servers of a test, which are stopped at its end."""
    started: list[DashboardProcess] = []
    yield started
    for server in started:
        server.stop()


@pytest.fixture
def dashboard(project: Path, servers: list[DashboardProcess]) -> DashboardProcess:
    """A server, and a browser that it knows."""
    servers.append(DashboardProcess(project))
    servers[0].log_in()
    return servers[0]


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("NOT TESTED: there is no Chromium on this machine")
    with browsing(tmp_path / "profile") as started:
        yield started


@pytest.fixture
def run_in() -> Callable[..., str]:
    """Runs the loop of a project to its end; what it printed."""

    def run(workshop: Workshop, *arguments: str) -> str:
        with workshop.start("--yes", *arguments) as process:
            output, errors = process.communicate(timeout=300)
        return output + errors

    return run
