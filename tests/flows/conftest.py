"""The example flows, each in a copy of its own, with the real program in processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

FLOWS = Path(__file__).resolve().parents[2] / "examples" / "flows"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Flow:
    def __init__(self, root: Path, home: Path, programs: Path) -> None:
        self.root = root
        self._env = {
            "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "LANG": "C.UTF-8",
        }

    def run(self) -> Ran:
        """The whole script."""
        return self._ran(["sh", str(self.root / "run.sh")])

    def samuel(self, *arguments: str, stdin: str = "", **variables: str) -> Ran:
        return self._ran(["samuel", *arguments], stdin, **variables)

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def _ran(self, command: list[str], stdin: str = "", **variables: str) -> Ran:
        done = subprocess.run(
            command,
            cwd=self.root,
            env={**self._env, **variables},
            input=stdin,
            capture_output=True,
            text=True,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def flow(tmp_path: Path, fast_samuel: Path, with_compiled_python: Callable[[Path], None]) -> Callable[[str], Flow]:
    """`flow("failing_build")`: a copy of that example, not agreed to yet."""

    def copy(name: str) -> Flow:
        root, home = tmp_path / name, tmp_path / "home"
        left_by_a_run = (".samuel", "logs", "cache", "implement", "__pycache__")
        shutil.copytree(FLOWS / name, root, ignore=shutil.ignore_patterns(*left_by_a_run))
        if not home.exists():
            with_compiled_python(home / ".cache")
        return Flow(root, home, fast_samuel)

    return copy
