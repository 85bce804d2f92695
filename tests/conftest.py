"""What all tests share: hook scripts in one line, and a mark that every process of a test carries."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("samuel", deadline=None)  # a busy machine is no failure
settings.load_profile("samuel")

TEST_MARK = "SAMUEL_TEST_MARK"


def sh_script(event: str, body: str) -> str:
    """A hook in sh by PLUGIN's protocol: `hook` prints the event, anything else does the body."""
    return f'#!/bin/sh\nif [ "$1" = hook ]; then echo {shlex.quote(event)}; exit 0; fi\n{body}\n'


def py_script(event: str, body: str) -> str:
    """The same as a Python program, run by the interpreter that runs the tests."""
    asked = f"if sys.argv[1] == 'hook':\n    print({event!r})\n    sys.exit()\n"
    return f"#!{sys.executable} -S\nimport sys\n{asked}{body}\n"


@pytest.fixture(scope="session")
def sh() -> Callable[[str, str], str]:
    return sh_script


@pytest.fixture(scope="session")
def py() -> Callable[[str, str], str]:
    return py_script


class Marked:
    """The processes that carry this test's mark in their environment."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex
        self._children = _children()

    def pids(self) -> list[int]:
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and self.mark.encode() in Path("/proc", name, "environ").read_bytes():
                    found.append(int(name))
            except OSError:  # gone meanwhile, or not ours
                continue
        return found

    def strays(self) -> list[str]:
        """All but Samuel's own workers: what they run, for the message."""
        found = []
        for pid in self.pids():
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if command and "samuel.runtimes.worker" not in command:
                found.append(command)
        return found

    def check(self) -> None:
        assert self.strays() == []
        assert self.pids() == []
        assert _children() - self._children == set(), "a zombie was left"


def _children() -> set[int]:
    found: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        try:
            found.update(int(pid) for pid in file.read_text().split())
        except OSError:  # a thread that ended meanwhile
            continue
    return found


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch, samuel_project: object) -> Iterator[Marked]:
    """Every process of the test carries a mark; when the test is over nobody may carry it any more."""
    marked = Marked()
    monkeypatch.setenv(TEST_MARK, marked.mark)
    yield marked
    samuel_project.close()  # type: ignore[attr-defined]
    marked.check()


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Real git, without anybody's configuration: `git(directory, "commit", ...)`."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }

    def run(directory: Path, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments], env=env, check=True, capture_output=True, text=True
        )
        return done.stdout

    return run
