"""What a check says about single tests: asking its runners for reports, and reading these and its output."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path

from samuel.checks.commands import CommandReader
from samuel.checks.files import disk_reader
from samuel.checks.pytest_settings import added_options
from samuel.evidence.reports.printed.output import read_output
from samuel.evidence.reports.report_files import WrittenReports
from samuel.evidence.reports.request import ReportRequest, RunnerInvocation, node_version, report_request
from samuel.evidence.reports.suite import SuiteReport, combined
from samuel.process import spawn

DIRECTORY = "reports"
OUTPUT = 64 * 1024  # bytes of an output that are read for what its runners print


class CheckReports:
    """The reports of one run of a check in `directory`. They lie in `state`, where every sandbox can write."""

    def __init__(self, directory: Path, state: Path, environment: Mapping[str, str], node: NodeVersion) -> None:
        self._directory = directory
        self._destination = state / DIRECTORY
        self._environment = environment
        self._node = node
        self._report_files: WrittenReports | None = None

    def prepare(self, command: str, number: int) -> Mapping[str, str]:
        """The variables by which the runners of a command write report `number`; earlier ones are removed."""
        request = self._request(command, number)
        report_files = WrittenReports(self._directory, self._destination, request)
        if not report_files.prepare():
            return {}
        self._report_files = report_files
        return request.variables

    def read(self, output: bytes, *, has_passed: bool) -> SuiteReport | None:
        """What the runners wrote since, and printed; None without either."""
        files = self._report_files.read() if self._report_files is not None else []
        text = output.decode("utf-8", "replace")
        printed = read_output(text, str(self._directory), is_cut=len(output) >= OUTPUT)
        return combined([*files, *printed], has_passed=has_passed)

    def _request(self, command: str, number: int) -> ReportRequest:
        read = disk_reader(self._directory)
        reader = CommandReader(_FilesBelow(self._directory), read)
        reader.line(command)
        invocations = [
            RunnerInvocation(
                name,
                tuple(call.arguments),
                call.directory,
                tuple(added_options(read, call.directory)) if name == "pytest" else (),
            )
            for name, call in reader.calls
        ]
        # A command that is not understood may start pytest all the same; no other program reads its variable.
        return report_request(
            invocations or [RunnerInvocation("pytest")],
            self._destination,
            self._environment,
            read,
            name=str(number),
            node_version=self._node() if any(call.runner == "node-test" for call in invocations) else 0,
        )


class NodeVersion:
    """The major version of the node that checks start, asked for once; 0 where it is another machine's."""

    def __init__(self, environment: Mapping[str, str], *, is_container: bool) -> None:
        self._environment = environment
        self._version: int | None = 0 if is_container else None

    def __call__(self) -> int:
        if self._version is None:
            finished = spawn.run(["node", "--version"], cwd="/", env=self._environment, timeout=10)
            self._version = node_version(finished.stdout) if finished.ended == "exited" else 0
        return self._version


class _FilesBelow(Container[str]):
    def __init__(self, root: Path) -> None:
        self._root = root

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and (self._root / path).is_file()
