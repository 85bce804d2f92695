from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.base.errors import UnsafePath
from samuel.files.atomic import Disk, write_at, write_bytes, write_text

OLD, NEW = b"old" * 1000, b"new" * 5000
STEPS = ["create", "chmod", "write", "fsync", "replace", "fsync"]


class Recorder(Disk):
    """A real disk that remembers each step; `before` is called first and may refuse it."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def before(self, step: str) -> None:
        self.steps.append(step)

    def create(self, name: str, directory: int, mode: int) -> int:
        self.before("create")
        return super().create(name, directory, mode)

    def chmod(self, fd: int, mode: int) -> None:
        self.before("chmod")
        super().chmod(fd, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self.before("write")
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self.before("fsync")
        super().fsync(fd)

    def replace(self, old: str, new: str, directory: int) -> None:
        self.before("replace")
        super().replace(old, new, directory)

    def remove(self, name: str, directory: int) -> None:
        self.before("remove")
        super().remove(name, directory)


class FailsOnce(Recorder):
    """One step fails, the rest work: a full disk, an interrupted call."""

    def __init__(self, step: int, error: BaseException) -> None:
        super().__init__()
        self.step, self.error = step, error

    def before(self, step: str) -> None:
        super().before(step)
        if len(self.steps) == self.step + 1:
            raise self.error


class Dies(FailsOnce):
    """From one step on nothing works any more, the cleaning up neither: a crash."""

    def before(self, step: str) -> None:
        super().before(step)
        if len(self.steps) > self.step:
            raise OSError("still dead")


class Dribbles(Recorder):
    """Takes a few bytes at a time, as a disk may."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, data[:7])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    return path


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_file_is_created_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new"
    write_text(path, "één\r\n")
    assert path.read_bytes() == "één\r\n".encode()
    write_bytes(path, b"")
    assert path.read_bytes() == b""
    assert os.listdir(tmp_path) == ["new"]


def test_content_reaches_the_disk_before_the_name_and_the_name_before_we_return(path: Path) -> None:
    disk = Recorder()
    write_bytes(path, NEW, disk=disk)
    assert disk.steps == STEPS


def test_a_cache_is_written_without_syncing(path: Path) -> None:
    disk = Recorder()
    write_bytes(path, NEW, durable=False, disk=disk)
    assert disk.steps == ["create", "chmod", "write", "replace"]


def test_a_directory_that_is_gone_is_told_by_the_name_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    directory = os.open(tmp_path / "gone", os.O_RDONLY)
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError) as raised:
        write_at(directory, "file", NEW)
    os.close(directory)
    assert raised.value.filename == "file"


def test_short_writes_are_continued(path: Path) -> None:
    write_bytes(path, b"x" * 100, disk=Dribbles())
    assert path.read_bytes() == b"x" * 100


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", range(len(STEPS)))
def test_a_step_that_fails_leaves_one_whole_version_and_nothing_else(
    path: Path, step: int, error: BaseException
) -> None:
    with pytest.raises(type(error)):
        write_bytes(path, NEW, disk=FailsOnce(step, error))
    replaced = "replace" in STEPS[:step]
    assert path.read_bytes() == (NEW if replaced else OLD)
    assert os.listdir(path.parent) == ["file"]


@pytest.mark.parametrize("step", range(len(STEPS)))
def test_a_crash_leaves_one_whole_version(path: Path, step: int) -> None:
    with pytest.raises(OSError, match="the first failure"):
        write_bytes(path, NEW, disk=Dies(step, OSError("the first failure")))
    replaced = "replace" in STEPS[:step]
    assert path.read_bytes() == (NEW if replaced else OLD)


def test_an_existing_file_keeps_its_permissions(path: Path, umask: None) -> None:
    path.chmod(0o666)
    write_bytes(path, NEW)
    assert path.stat().st_mode & 0o7777 == 0o666


def test_a_given_mode_is_exact(path: Path, umask: None) -> None:
    write_bytes(path, NEW, 0o606)
    assert path.stat().st_mode & 0o7777 == 0o606


def test_a_new_file_obeys_the_umask(tmp_path: Path, umask: None) -> None:
    write_bytes(tmp_path / "new", NEW)
    assert (tmp_path / "new").stat().st_mode & 0o7777 == 0o640


def test_a_link_is_replaced_not_followed(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    write_bytes(link, NEW)
    assert not link.is_symlink()
    assert link.read_bytes() == NEW
    assert link.stat().st_mode & 0o111 == 0
    assert path.read_bytes() == OLD


def test_a_directory_is_not_replaced(path: Path) -> None:
    path.with_name("directory").mkdir()
    with pytest.raises(IsADirectoryError):
        write_bytes(path.with_name("directory"), NEW)
    assert sorted(os.listdir(path.parent)) == ["directory", "file"]


def test_a_name_in_an_open_directory_cannot_leave_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    directory = os.open(tmp_path / "in", os.O_RDONLY)
    try:
        write_at(directory, "file", NEW)
        with pytest.raises(UnsafePath, match=r"`\.\./file`"):
            write_at(directory, "../file", NEW)
    finally:
        os.close(directory)
    assert os.listdir(tmp_path) == ["in"]
    assert os.listdir(tmp_path / "in") == ["file"]


def test_no_descriptor_is_left_open(path: Path) -> None:
    before = os.listdir("/dev/fd")
    write_bytes(path, NEW)
    for step in range(len(STEPS)):
        with pytest.raises(OSError):
            write_bytes(path, NEW, disk=FailsOnce(step, OSError()))
    assert os.listdir("/dev/fd") == before


WRITER = """
import sys
from pathlib import Path
from samuel.files.atomic import write_bytes
path, letter = Path(sys.argv[1]), sys.argv[2].encode()
for size in range(1, 51):
    write_bytes(path, letter * size * 1000)
"""


@pytest.mark.slow
def test_among_many_writers_the_file_is_always_one_whole_version(path: Path) -> None:
    path.write_bytes(b"a" * 1000)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, letter]) for letter in "abcdefgh"]
    contents: set[bytes] = set()
    try:
        while any(writer.poll() is None for writer in writers):
            data = path.read_bytes()
            assert len(data) % 1000 == 0
            assert data == data[:1] * len(data) != b""
            contents.add(data[:1])
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    assert [writer.returncode for writer in writers] == [0] * 8
    assert len(contents) > 1
    assert os.listdir(path.parent) == ["file"]
