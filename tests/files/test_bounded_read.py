from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from samuel.base.errors import SamuelError
from samuel.files.inside import read_inside
from samuel.files.regular import BLOCK, lines_backwards, read_at_most


@contextmanager
def opened(path: Path, data: bytes) -> Iterator[int]:
    path.write_bytes(data)
    fd = os.open(path, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


def peak_bytes(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class TestLinesBackwards:
    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\n",
            b"one",
            b"one\n",
            b"one\n\ntwo",
            b"a" * BLOCK,
            b"a" * (BLOCK - 1) + b"\n" + b"b" * BLOCK + b"\n",
            b"a" * BLOCK + b"\n" + b"b" * (3 * BLOCK) + b"\nc",
            b"".join(b"%d\n" % number for number in range(50_000)),
        ],
        ids=lambda data: f"{len(data)} bytes",
    )
    def test_they_are_the_lines_of_the_file_in_reverse(self, tmp_path: Path, data: bytes) -> None:
        with opened(tmp_path / "file", data) as fd:
            expected = data.split(b"\n")[::-1] if data else [b""]
            assert list(lines_backwards(fd)) == expected

    def test_what_is_appended_while_they_are_read_is_left_out(self, tmp_path: Path) -> None:
        with opened(tmp_path / "file", b"one\ntwo\n") as fd:
            lines = lines_backwards(fd)
            assert next(lines) == b""
            with (tmp_path / "file").open("ab") as file:
                file.write(b"three\n")
            assert list(lines) == [b"two", b"one"]

    def test_a_long_file_takes_the_memory_of_a_few_blocks(self, tmp_path: Path) -> None:
        with opened(tmp_path / "file", b"a line of a long file\n" * 400_000) as fd:
            assert peak_bytes(lambda: sum(1 for _ in lines_backwards(fd))) < 16 * BLOCK


class TestReadAtMost:
    @pytest.mark.parametrize("size", [0, 1, BLOCK, 3 * BLOCK + 7])
    def test_it_is_the_beginning_of_the_file(self, tmp_path: Path, size: int) -> None:
        data = os.urandom(size)
        with opened(tmp_path / "file", data) as fd:
            assert read_at_most(fd, BLOCK) == data[:BLOCK]

    def test_a_file_of_procfs_which_has_no_size_is_read_whole(self) -> None:
        fd = os.open("/proc/self/status", os.O_RDONLY)
        try:
            assert read_at_most(fd, BLOCK).endswith(b"\n")
        finally:
            os.close(fd)

    def test_a_high_limit_takes_no_memory(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"short")
        assert peak_bytes(lambda: read_inside(tmp_path, "file", limit=1 << 28)) < 1 << 20

    def test_a_file_above_the_limit_is_still_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"12345")
        with pytest.raises(SamuelError, match="is larger than 4 bytes"):
            read_inside(tmp_path, "file", limit=4)
