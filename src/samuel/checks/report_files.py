"""Asking test runners for a report in JUnit's XML, by variables of the environment, and reading it afterwards.

The report lies in the state directory, which a check can write in every sandbox. A report that the project writes
itself is read where it is.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

from samuel.base.errors import SamuelError
from samuel.checks.commands import CommandReader
from samuel.checks.files import disk_reader
from samuel.checks.junit import MAX_BYTES, CaseResult, merged, read_report
from samuel.checks.pytest_settings import added_options
from samuel.checks.shell_words import SimpleCommand
from samuel.files.inside import make_dirs_inside, read_inside
from samuel.process import spawn

DIRECTORY = "junit"
OLDEST_NODE = 20  # the first whose test runner writes JUnit's XML
_PYTEST_OPTIONS = ("--junitxml", "--junit-xml")
_Signature = tuple[int, int, int]


class ReportFiles:
    """The reports of one project's checks: those that Samuel asks for, and those that the project writes."""

    def __init__(self, root: Path, state: Path, environment: Mapping[str, str], *, is_container: bool) -> None:
        """`is_container`: the programs are those of an image, and not those of this machine."""
        self._root = root
        self._state = state
        self._environment = environment
        self._is_container = is_container
        self._node: bool | None = None
        self._own: dict[Path, _Signature | None] = {}  # the project's own reports, as they were before the check

    def prepare(self, command: str, number: int) -> dict[str, str]:
        """The variables by which a check's runner writes report `number`; {} if it has no runner that does.

        A report with this number from an earlier run is removed.
        """
        self._own = {}
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
        """The tests of report `number`, and of the project's own that were written since; None without any."""
        reports = [_read(self._state, f"{DIRECTORY}/{_name(number)}")]
        for path, before in self._own.items():
            if _signature(path) != before:  # else it is that of an earlier run
                reports.append(_read(Path("/"), str(path).lstrip("/")))
        contents = [report for report in reports if report is not None]
        return merged(contents) if contents else None

    def _variables(self, command: str, path: str) -> dict[str, str]:
        reader = CommandReader(_FilesBelow(self._root), disk_reader(self._root))
        reader.line(command)
        pytest_calls = [call for name, call in reader.calls if name == "pytest"]
        node_calls = [call for name, call in reader.calls if name == "node-test"]
        variables = {}
        if pytest_calls and self._asks_pytest(pytest_calls):
            variables["PYTEST_ADDOPTS"] = f"--junitxml={shlex.quote(path)}"
        if node_calls and not re.search(r"[\s\"'\\]", path) and self._node_writes_reports():
            variables |= _node_options(node_calls, path)
        return {name: f"{self._environment.get(name, '')} {value}".strip() for name, value in variables.items()}

    def _asks_pytest(self, calls: Sequence[SimpleCommand]) -> bool:
        """Whether to ask pytest for a report. The project's own reports are noted, to be read after the check.

        A report that settings ask for would not be written if Samuel asked for another one. One that a command
        line asks for is written in any case.
        """
        in_environment = _split(self._environment.get("PYTEST_ADDOPTS", ""))
        asks = True
        for call in calls:
            settings = [*added_options(disk_reader(self._root), call.directory), *in_environment]
            if "no:junitxml" in (*settings, *call.arguments):  # the plugin is off: pytest would refuse the option
                return False
            if own := _junit_path(call.arguments) or _junit_path(settings):
                file = self._root / call.directory / os.path.expanduser(own)
                self._own[Path(os.path.normpath(file))] = None
            asks = asks and not _junit_path(settings)
        self._own = {file: _signature(file) for file in self._own}
        return asks

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


def _read(root: Path, path: str) -> dict[str, CaseResult] | None:
    try:
        return read_report(read_inside(root, path, limit=MAX_BYTES))
    except (OSError, SamuelError):
        return None


def _signature(path: Path) -> _Signature | None:
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _junit_path(words: Sequence[str]) -> str:
    """The report that the last of pytest's options for it names; "" without one."""
    path = ""
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        option, equals, value = word.partition("=")
        if option in _PYTEST_OPTIONS:
            path = value if equals else following
    return path


def _node_options(calls: Sequence[SimpleCommand], path: str) -> dict[str, str]:
    """The variables for node's test runner, which wants a destination for each of several reporters.

    A command line with a reporter and no destination leaves no room for another one.
    """
    ours = f"--test-reporter=junit --test-reporter-destination={path}"
    words = [word.partition("=")[0] for call in calls for word in call.arguments]
    if "--test-reporter" not in words:
        return {"NODE_OPTIONS": f"--test-reporter=spec --test-reporter-destination=stdout {ours}"}
    counts = {words.count("--test-reporter"), words.count("--test-reporter-destination")}
    return {"NODE_OPTIONS": ours} if len(counts) == 1 else {}


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []
