"""The `samuel` that docs and flows use must outlive what other tests do to their worker."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from samuel.process import spawn
from samuel.process.ledger import LEDGER
from samuel.process.tree import own_all_children

from . import forkserver


def version(directory: Path) -> str:
    return subprocess.run([directory / "samuel", "--version"], capture_output=True, text=True, check=True).stdout


def call_alone() -> None:
    own_all_children()
    spawn.run([sys.executable, "-c", ""], cwd="/", env={}, timeout=60)


@pytest.mark.slow
def test_fork_server_is_not_ended_as_a_stray_of_a_process_that_was_a_subreaper_before() -> None:
    call_alone()
    assert LEDGER._subreaper
    with forkserver.running() as directory:
        call_alone()
        assert version(directory).startswith("samuel ")


@pytest.mark.slow
def test_fork_server_outlives_a_client_that_sends_no_request_or_a_broken_one() -> None:
    with forkserver.running() as directory:
        for request in (b"", b"\0\0\0\0\0\0\0\1x"):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(os.fspath(directory / "socket"))
                client.sendall(request)
        assert version(directory).startswith("samuel ")
