"""`samuel attempt` as a person may start it: what it reads, and what its end means."""

from __future__ import annotations

import json
import subprocess
from typing import Any, NamedTuple

import pytest
from tests.workspaces.fleet.project import CLONE, FleetProject
from tests.workspaces.lanes.project import PATIENCE

from samuel.version import __version__
from samuel.workspaces.fleet.rule_files import rule_digests
from samuel.workspaces.fleet.wire import PROTOCOL, MachineRequest, line_of


class Attempt(NamedTuple):
    code: int
    lines: list[dict[str, Any]]
    err: str


def attempt(fleet: FleetProject, stdin: Any = None, data: bytes | None = None) -> Attempt:
    """The command on the first machine; its input is a file, or what comes through a pipe."""
    source: dict[str, Any] = {"input": data} if stdin is None else {"stdin": stdin}
    done = subprocess.run(
        ["samuel", "attempt"],
        env=fleet.machines.environment("m1"),
        capture_output=True,
        timeout=PATIENCE,
        **source,
    )
    return Attempt(done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode())


def check_request(fleet: FleetProject) -> bytes:
    """A request to check whether the machine could work."""
    head = fleet.git("rev-parse", "HEAD").strip()
    request = MachineRequest(
        protocol=PROTOCOL,
        version=__version__,
        place="ssh:m1",
        machine="m1",
        directory=CLONE,
        remote="origin",
        url=str(fleet.bare),
        base=head,
        methodology="ralph",
        agent="mine",
        rules=rule_digests(fleet.root),
    )
    return line_of(request)


@pytest.mark.slow
def test_request_that_is_redirected_from_a_file_is_answered(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    file = fleet.outside / "request.json"
    for end_of_line in (b"\n", b"", b"\n\n"):
        file.write_bytes(check_request(fleet).rstrip(b"\n") + end_of_line)
        with file.open("rb") as stdin:
            done = attempt(fleet, stdin)
        assert (done.code, done.err) == (0, "")
        assert done.lines[-1]["line"] == "ready"


@pytest.mark.parametrize("data", [b"", b"nonsense", b"nonsense\n"], ids=["nothing", "half a line", "a line"])
def test_what_is_not_a_request_is_refused_from_a_file(fleet: FleetProject, data: bytes) -> None:
    file = fleet.outside / "request.json"
    file.write_bytes(data)
    with file.open("rb") as stdin:
        done = attempt(fleet, stdin)
    assert (done.code, done.lines[-1]["code"]) == (1, "protocol")
    assert "standard input is not a request of a coordinator" in done.lines[-1]["why"]


def test_input_that_ends_cancels_the_attempt_and_says_so(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    request = check_request(fleet)
    for data in (request, request.rstrip(b"\n"), request + b"more\n"):
        done = attempt(fleet, data=data)
        assert (done.code, done.lines[-1]) == (130, {"line": "cancelled"})
        assert done.err == (
            "error: cancelled: standard input ended before the answer, or had more than one line\n"
            "keep it open until the answer is printed, or redirect it from a file\n"
        )


def test_empty_input_is_refused(fleet: FleetProject) -> None:
    done = attempt(fleet, data=b"")
    assert (done.code, [line["code"] for line in done.lines]) == (1, ["protocol"])
