"""Asking test runners for a report in JUnit's XML, by variables of the environment, and reading it afterwards.

The report lies in the state directory, which a check can write in every sandbox.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path

from samuel.errors import SamuelError
from samuel.files.inside import make_dirs_inside, read_inside
from samuel.loop.checks.commands import CommandReader
from samuel.loop.checks.files import disk_reader
from samuel.loop.checks.junit import MAX_BYTES, CaseResult, read_report
from samuel.process import spawn

DIRECTORY = "junit"
OLDEST_NODE = 20  # the first whose test runner writes JUnit's XML
_PYTEST_SETTINGS = ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml")


class ReportFiles:
    """The reports of one project's checks."""

    def __init__(self, root: Path, state: Path, environment: Mapping[str, str], *, is_container: bool) -> None:
        """`is_container`: the programs are those of an image, and not those of this machine."""
        self._root = root
        self._state = state
        self._environment = environment
        self._is_container = is_container
        self._node: bool | None = None

    def prepare(self, command: str, number: int) -> dict[str, str]:
        """The variables by which a check's runner writes report `number`; {} if it has no runner that does.

        A report with this number from an earlier run is removed.
        """
        try:
            directory = make_dirs_inside(self._state, DIRECTORY, mode=0o755)
        except (OSError, SamuelError):
            return {}
        try:
            with suppress(FileNotFoundError):
                os.unlink(_name(number), dir_fd=directory)
        except OSError:  # an agent made a directory of it
            return {}
        finally:
            os.close(directory)
        return self._variables(command, str(self._state / DIRECTORY / _name(number)))

    def read(self, number: int) -> dict[str, CaseResult] | None:
        """The tests of report `number` with their results; None if there is none."""
        try:
            return read_report(read_inside(self._state, DIRECTORY, _name(number), limit=MAX_BYTES))
        except (OSError, SamuelError):
            return None

    def _variables(self, command: str, path: str) -> dict[str, str]:
        read = disk_reader(self._root)
        reader = CommandReader(_FilesBelow(self._root), read)
        reader.line(command)
        variables = {}
        # A project that asks for a report itself, or switched the plugin off, is left alone.
        if "pytest" in reader.runners and not any(
            "junit" in text for text in (command, *map(read, _PYTEST_SETTINGS))
        ):
            variables["PYTEST_ADDOPTS"] = f"--junitxml={shlex.quote(path)}"
        if "node-test" in reader.runners and not re.search(r"[\s\"'\\]", path) and self._node_writes_reports():
            variables["NODE_OPTIONS"] = (
                "--test-reporter=spec --test-reporter-destination=stdout "
                f"--test-reporter=junit --test-reporter-destination={path}"
            )
            if "--test-reporter" in f"{command} {read('package.json')}":
                del variables["NODE_OPTIONS"]
        return {name: f"{self._environment.get(name, '')} {value}".strip() for name, value in variables.items()}

    def _node_writes_reports(self) -> bool:
        if self._node is None:
            self._node = not self._is_container and self._node_version() >= OLDEST_NODE
        return self._node

    def _node_version(self) -> int:
        finished = spawn.run(["node", "--version"], cwd="/", env=self._environment, timeout=10)
        version = re.match(rb"v(\d{1,5})\.", finished.stdout)
        return int(version[1]) if version and finished.ended == "exited" else 0


class _FilesBelow(Container[str]):
    def __init__(self, root: Path) -> None:
        self._root = root

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and (self._root / path).is_file()


def _name(number: int) -> str:
    return f"{number}.xml"
