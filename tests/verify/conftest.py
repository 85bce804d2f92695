"""A small shop whose run made one commit with a receipt: made once, and copied for each test."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

PRICES = "import dependency\n\n\ndef price(amount):\n    return amount\n"
FIXED = "import dependency\n\n\ndef price(amount):\n    return max(amount, 0)\n"
TEST = """\
import os
import unittest

import dependency
from prices import price


class Prices(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(2), 2)

    def test_dependency(self):
        self.assertEqual(dependency.NAME, "one")

    def test_python(self):
        self.assertNotIn("OTHER_PYTHON", os.environ)

    def test_weather(self):
        if os.path.exists(RAIN):
            os.unlink(RAIN)
            self.fail("it rains, once")
"""
NEW_TEST = "\n    def test_negative(self):\n        self.assertEqual(price(-1), 0)\n"
CHECK = "PYTHONPATH=.venv/lib/python3/site-packages:. python3 -m unittest -v"
CONFIG = f"""\
[methodology.ralph]
agent = "mine"
pause = "0s"
commit = true
quality_checks = ["{CHECK}"]

[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
"""
AGENT = f"""\
#!/bin/sh
set -e
cat > /dev/null
cat > prices.py <<'END'
{FIXED}END
cat >> test_prices.py <<'END'
{NEW_TEST}END
samuel run done "$SAMUEL_TASK_ID" > /dev/null
"""
IGNORED = ".samuel/\n.venv/\n__pycache__/\n"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)["data"]


class Shop:
    """A copy of the shop, or a clone of it, with a home of its own."""

    def __init__(self, directory: Path, root: Path | None = None) -> None:
        self.directory = directory
        self.root = root or directory / "shop"
        self.rain = directory / "rain"
        self.variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SAMUEL_", "GIT_"))},
            "HOME": str(directory / "home"),
            "XDG_STATE_HOME": str(directory / "home/state"),
            "XDG_CACHE_HOME": str(directory / "home/cache"),
            "PATH": f"{directory / 'bin'}:{os.environ['PATH']}",
            "SAMUEL_SERVE": "off",
            "SAMUEL_TRUST": "all",
        }

    def samuel(self, *arguments: str, **variables: str) -> Ran:
        command = [sys.executable, "-m", "samuel", *arguments]
        done = subprocess.run(
            command, cwd=self.root, env={**self.variables, **variables}, capture_output=True, text=True
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def verify(self, target: str, *arguments: str, **variables: str) -> Ran:
        return self.samuel("verify", target, "--json", *arguments, **variables)

    def git(self, *arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=self.variables, input=stdin, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def run(self, *arguments: str) -> None:
        """Let the agent do its task."""
        self.add_task()
        ran = self.samuel("run", "start", "--yes", *arguments)
        assert ran.code == 0, ran

    def add_task(self, **fields: Any) -> None:
        store = TaskStore(self.root / ".samuel/run")
        store.replace_all([Task(id="1", title="Fix negative prices", **fields)])

    def note(self, commit: str = "HEAD") -> dict[str, Any]:
        note: dict[str, Any] = json.loads(self.git("notes", "--ref=samuel", "show", commit))
        return note

    def clone(self, name: str = "clone") -> Shop:
        """A clone with the receipts and the dependencies, and a place of its own."""
        root = self.directory / name
        self.git("clone", "-q", str(self.root), str(root))
        clone = Shop(self.directory, root)
        clone.git("fetch", "-q", "origin", "refs/notes/samuel:refs/notes/samuel")
        clone.git("config", "user.name", "t")
        clone.git("config", "user.email", "t@example.org")
        shutil.copytree(self.root / ".venv", root / ".venv")
        return clone

    def python(self, version: str = "", *exports: str) -> None:
        """Let `python3` be one that says it has this version, and that runs with these variables."""
        file = self.directory / "bin/python3"
        lines = [f"export {name}" for name in exports]
        if version:
            lines.append(f'[ "$1" = --version ] && echo "Python {version}" && exit')
        file.write_text("\n".join(["#!/bin/sh", *lines, f'exec {shlex.quote(sys.executable)} "$@"', ""]))
        file.chmod(0o755)

    def dependency(self, name: str, version: str) -> None:
        packages = self.root / ".venv/lib/python3/site-packages"
        shutil.rmtree(self.root / ".venv", ignore_errors=True)
        (packages / f"dependency-{version}.dist-info").mkdir(parents=True)
        (packages / "dependency.py").write_text(f"NAME = {name!r}\n")
        (self.root / ".venv/pyvenv.cfg").write_text("version = 3.11.0\n")


def make_shop(directory: Path) -> Shop:
    """The shop before its run."""
    shop = Shop(directory)
    for name in ("shop", "home", "bin"):
        (directory / name).mkdir(parents=True)
    shop.python()
    shop.dependency("one", "1.0")
    files = {
        "prices.py": PRICES,
        "test_prices.py": f"RAIN = {str(shop.rain)!r}\n{TEST}",
        "samuel.toml": CONFIG,
        "agent.sh": AGENT,
        ".gitignore": IGNORED,
    }
    for name, text in files.items():
        (shop.root / name).write_text(text)
    (shop.root / "agent.sh").chmod(0o755)
    shop.git("init", "-q", "-b", "main")
    shop.git("config", "user.name", "t")
    shop.git("config", "user.email", "t@example.org")
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "shop")
    return shop


@pytest.fixture
def new_shop(tmp_path: Path, with_compiled_python: Callable[[Path], None]) -> Shop:
    shop = make_shop(tmp_path / "place")
    with_compiled_python(tmp_path / "place/home/cache")
    return shop


@pytest.fixture(scope="session")
def finished_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the shop is after its run. Its tests name a file of this place, and so do all copies."""
    directory = tmp_path_factory.mktemp("receipts") / "place"
    shop = make_shop(directory)
    shop.run()
    return directory


@pytest.fixture
def shop(finished_shop: Path, tmp_path: Path, with_compiled_python: Callable[[Path], None]) -> Shop:
    """A shop with a receipt for its last commit."""
    directory = tmp_path / "place"
    shutil.copytree(finished_shop, directory, symlinks=True, ignore=lambda _, names: {"home"} & {*names})
    (directory / "home").mkdir()
    with_compiled_python(directory / "home/cache")
    shop = Shop(directory)
    shop.rain = finished_shop / "rain"
    shop.rain.unlink(missing_ok=True)
    return shop
