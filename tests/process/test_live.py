"""Who is below a run is told by ancestors alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from samuel.process import procfs
from samuel.process.live import enclosing, registered

ASK = """
import sys
from pathlib import Path
from samuel.process.live import enclosing
print(enclosing(Path(sys.argv[1])))
"""

pytestmark = pytest.mark.skipif(not procfs.available(), reason="there is no /proc")


def enclosing_of_child(directory: Path, *before: str, env: dict[str, str] | None = None) -> str:
    command = [*before, sys.executable, "-c", ASK, str(directory)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()


def test_a_child_is_inside_and_the_run_itself_is_not(tmp_path: Path) -> None:
    with registered(tmp_path, "run-1"):
        assert enclosing_of_child(tmp_path) == "run-1"
        assert enclosing_of_child(tmp_path, "setsid", "-w", env={"PATH": os.environ["PATH"]}) == "run-1"
        assert enclosing(tmp_path) == ""
    assert enclosing_of_child(tmp_path) == ""
    assert list(tmp_path.iterdir()) == []


def test_an_entry_of_a_process_that_is_gone_means_nothing_and_is_removed(tmp_path: Path) -> None:
    with registered(tmp_path, "run-1"):
        (entry,) = tmp_path.iterdir()
        text = entry.read_text()
    stale = tmp_path / "1-run-0.json"
    stale.write_text(text.replace(f'"born":{procfs.born(os.getpid())}', '"born":1'))
    assert enclosing_of_child(tmp_path) == ""
    with registered(tmp_path, "run-2"):
        assert not stale.exists()


@pytest.mark.parametrize("apart", [("unshare", "-pf"), ("unshare", "-pf", "--mount-proc")])
def test_process_in_its_own_pid_namespace_is_still_inside_the_run(tmp_path: Path, apart: tuple[str, ...]) -> None:
    if os.geteuid() != 0:
        apart = (apart[0], "-Ur", *apart[1:])
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no process namespace can be made here")
    assert enclosing_of_child(tmp_path, *apart) == ""
    with registered(tmp_path, "run-1"):
        assert enclosing_of_child(tmp_path, *apart) == "run-1"
        (entry,) = tmp_path.iterdir()
        left = entry.read_bytes()
    (tmp_path / "1-run-0.json").write_bytes(left)  # of a run that was killed: no process holds it any more
    assert enclosing_of_child(tmp_path, *apart) == ""


@pytest.mark.parametrize("content", ["", "{}", "\xff\xfe", '{"name": 3}'])
def test_a_broken_entry_is_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with registered(tmp_path, "run-1"):
        assert enclosing_of_child(tmp_path) == "run-1"


def test_registering_in_a_directory_that_cannot_be_written_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with registered(tmp_path / "file", "run-1"), registered(None, "run-2"):
        assert enclosing(tmp_path / "file") == ""
