"""Projects for the tests of unattended runs, prepared by the command line and copied."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.unattended.project import (
    LEAN_PYTEST,
    PRODUCT,
    QUICK,
    UnattendedProject,
    agents_table,
    copy_project,
    end_agents,
    prd,
)

MakeProject = Callable[..., UnattendedProject]


@pytest.fixture(scope="session", autouse=True)
def _compiled_runners(compiled_python: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile what runs the checks once: they leave no bytecode, so each would compile all of it again."""
    try:
        (compiled_python / "runners").mkdir()
    except FileExistsError:  # another worker does
        return
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled_python)}
    for options in (("-S", "-m", "unittest"), ("-m", "pytest", *LEAN_PYTEST.split())):
        subprocess.run(
            [sys.executable, *options], cwd=tmp_path_factory.mktemp("empty"), env=env, capture_output=True
        )


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    return lambda: tmp_path_factory.mktemp("original")


@pytest.fixture(scope="session")
def prepared(
    originals: Callable[[], Path], fast_samuel: Path, with_compiled_python: Callable[[Path], None]
) -> Callable[..., Path]:
    """`prepared(files, settings, agents, first)`: a repository after `samuel init` and `samuel run init`.

    Those with the same content are prepared once.
    """
    cache: dict[object, Path] = {}

    def prepare(files: Mapping[str, str], settings: str, agents: str, first: str) -> Path:
        key = (tuple(sorted(files.items())), settings, agents, first)
        if key not in cache:
            base = originals()
            home = base / "home"
            home.mkdir()
            with_compiled_python(home / "cache")
            original = UnattendedProject(base, fast_samuel, home)
            original.root.mkdir()
            for name, text in files.items():
                original.write(name, text)
            original.git("init", "-q", "-b", "main")
            original.git("config", "user.name", "A Person")
            original.git("config", "user.email", "person@example.org")
            original.samuel("init")
            config = original.read("samuel.toml")
            if "methodology" in tomllib.loads(config):  # a table cannot be in a file twice
                config = ""
            table = f"\n[methodology.ralph]\n{settings}" if settings else ""
            original.write("samuel.toml", f"{config}{table}\n{agents}")
            # `agents` in samuel.toml says it already, and both keys at once are an error.
            agent = [] if "agents = " in settings else ["--agent", first]
            original.samuel("run", "init", "--prd", "prd.md", "--no-commit", *agent)
            original.git("add", "-A")
            original.git("commit", "-q", "-m", "begin")
            original.git("tag", "begin")
            cache[key] = original.root
        return cache[key]

    return prepare


@pytest.fixture
def make_project(
    tmp_path: Path,
    prepared: Callable[..., Path],
    fast_samuel: Path,
    with_compiled_python: Callable[[Path], None],
) -> Iterator[MakeProject]:
    """`make_project("Title", ..., t1="body", settings=..., files=...)`: a project with these tasks, ready.

    `agents` are the stand-ins and their streams; the first one works. `checks=None` leaves them to `run init`.
    """
    home = tmp_path / "home"
    home.mkdir()
    with_compiled_python(home / "cache")

    def make(
        *titles: str,
        settings: str = "",
        files: Mapping[str, str | None] | None = None,
        agents: Mapping[str, str] | None = None,
        checks: str | None = '["make test"]',
        **bodies: str,
    ) -> UnattendedProject:
        contents = {**PRODUCT, "prd.md": prd(*titles, **bodies), **(files or {})}
        contents = {name: text for name, text in contents.items() if text is not None}
        names = agents or {"first": "plain"}
        lines = [QUICK, f"quality_checks = {checks}\n" if checks else "", f"{settings}\n" if settings else ""]
        original = prepared(contents, "".join(lines), agents_table(names), next(iter(names)))
        copy_project(original, tmp_path / "project")
        project = UnattendedProject(tmp_path, fast_samuel, home)
        for number in range(1, len(titles) + 1):
            project.solution(str(number), {f"work{number}.py": f"VALUE = {number}\n"})
        return project

    yield make
    end_agents(tmp_path)
