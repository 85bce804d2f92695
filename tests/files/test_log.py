from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from samuel.files.log import append

CODE = """
import sys
from pathlib import Path
from samuel.files.log import append

root, me, most = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(200):
    append(root, "logs", "a.log", entry=f"{me}-{number:03}\\n".encode(), most=most)
"""


def test_directories_are_made_and_entries_added(tmp_path: Path) -> None:
    for entry in (b"one\n", b"two\n"):
        append(tmp_path, "x", "y", "a.log", entry=entry)
    assert (tmp_path / "x/y/a.log").read_bytes() == b"one\ntwo\n"


def test_long_log_begins_anew_and_the_old_one_is_kept(tmp_path: Path) -> None:
    for entry in (b"12345\n", b"67890\n", b"a\n"):
        append(tmp_path, "a.log", entry=entry, most=8)
    assert (tmp_path / "a.log.1").read_bytes() == b"12345\n67890\n"
    assert (tmp_path / "a.log").read_bytes() == b"a\n"


@pytest.mark.slow
def test_log_that_several_processes_find_too_long_is_rotated_once(tmp_path: Path) -> None:
    expected = sorted(f"{me}-{number:03}" for me in range(8) for number in range(200))
    most = 6 * len(expected) // 2  # it gets too long just once
    processes = [subprocess.Popen([sys.executable, "-c", CODE, tmp_path, str(me), str(most)]) for me in range(8)]
    assert [process.wait(300) for process in processes] == [0] * 8
    files = [tmp_path / "logs/a.log", tmp_path / "logs/a.log.1"]
    assert sorted(line for file in files for line in file.read_text().split()) == expected
