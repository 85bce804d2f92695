"""For plugins that are images: one that does what it is told, a project to do it in, a runtime to call it with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.base.clock import FakeClock
from samuel.confine.containers import engine
from samuel.runtimes.oci import OciRuntime

from .contract import setting
from .images import MEMORY, SCRIPT, containers


@pytest.fixture(scope="session")
def hook_image(busybox_image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("image")
    (directory / "hook").write_text(SCRIPT)
    (directory / "Containerfile").write_text(
        f'FROM {busybox_image}\nCOPY hook /hook\nENTRYPOINT ["/bin/sh", "/hook"]\n'
    )
    name = f"localhost/samuel-test-hook:{os.getpid()}"
    yield engine.pin(name, containerfile=directory / "Containerfile", host=os.environ)
    subprocess.run(["podman", "rmi", "--force", name], capture_output=True)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the machine needs is found once, as it is for a user."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in ("src/a.py", "docs/b.md", ".git/config", ".git/hooks/pre-commit", ".samuel/hooks/guard"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("mine\n")
    (root / "samuel.toml").write_text("# mine\n")
    return root


@pytest.fixture(params=[False, True], ids=["a call", "kept"])
def serve(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def runtime(root: Path, hook_image: str, cache: Path) -> Iterator[OciRuntime]:
    host = {
        **os.environ,
        "PATH": f"{os.environ['PATH']}:/of-the-host",
        "GRANTED": "the value",
        "SECRET": "hidden",
        "http_proxy": "http://user:secret@proxy",
    }
    runtime = OciRuntime(setting(root, cache, host=host, memory=MEMORY, clock=FakeClock(1000.0)))
    yield runtime
    runtime.close()
    assert containers(root) == []
