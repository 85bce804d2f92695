"""A log that never grows past its limit, with the beginning and the end of what was written."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.files.log import BoundedLog

MOST = 4000
NOTE = re.compile(rb"\n\[samuel: +(\d+) bytes left out here\]\n")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[BoundedLog]:
    path = tmp_path / "agent.log"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    yield BoundedLog(fd, path, MOST)
    os.close(fd)


def test_what_fits_is_kept_as_it_is(log: BoundedLog, tmp_path: Path) -> None:
    log.write(b"x" * 1500)
    log.write(b"y" * 2500)
    assert (tmp_path / "agent.log").read_bytes() == b"x" * 1500 + b"y" * 2500


@pytest.mark.parametrize("seed", range(20))
def test_beginning_and_end_are_kept_and_what_is_left_out_is_counted(
    log: BoundedLog, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    whole = b""
    for _ in range(chance.randrange(10, 200)):
        chunk = chance.randbytes(chance.choice((1, 100, 999, 1000, 4000, 9001)))
        log.write(chunk)
        whole += chunk
        content = (tmp_path / "agent.log").read_bytes()
        assert len(content) <= MOST
        beginning, *cut = NOTE.split(content)
        if not cut:
            assert beginning == whole
            continue
        count, end = int(cut[0]), cut[1]
        assert (len(beginning), len(end) >= 1000) == (1000, True)
        assert whole.startswith(beginning)
        assert whole.endswith(end)
        assert count == len(whole) - len(beginning) - len(end)
    assert len(whole) > MOST


def test_error_of_a_write_names_the_log(tmp_path: Path) -> None:
    with open("/dev/full", "r+b", buffering=0) as full, pytest.raises(OSError) as caught:
        BoundedLog(full.fileno(), tmp_path / "agent.log").write(b"x")
    assert caught.value.filename == str(tmp_path / "agent.log")
