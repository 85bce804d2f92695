"""Replace a file whole: a reader, or a power cut, finds the old version or the new one, never a part."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from samuel.base.errors import UnsafePath


@contextmanager
def errors_naming(path: Path | str, *, instead_of: str | None = None) -> Iterator[None]:
    """Let an OSError that names no file, or the temporary one that it is written to, name `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename in (None, instead_of):
            error.filename = str(path)
        raise


class Disk:
    """What a replacement asks of the operating system, a method a step, so that a test can fail any of them.

    Names are relative to an open directory: a directory moved or swapped half-way cannot split a replacement.
    """

    def create(self, name: str, directory: int, mode: int) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, mode, dir_fd=directory)

    def chmod(self, fd: int, mode: int) -> None:
        os.fchmod(fd, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def replace(self, old: str, new: str, directory: int) -> None:
        os.replace(old, new, src_dir_fd=directory, dst_dir_fd=directory)

    def remove(self, name: str, directory: int) -> None:
        os.unlink(name, dir_fd=directory)


class ScratchDisk(Disk):
    """For files that are not needed after a power cut, such as those of a lane: nothing is flushed."""

    def fsync(self, fd: int) -> None:
        pass


DISK = Disk()
SCRATCH = ScratchDisk()


def write_text(path: Path, text: str, mode: int | None = None, *, durable: bool = True, disk: Disk = DISK) -> None:
    """`write_bytes` of the text as UTF-8, its line ends as they are."""
    write_bytes(path, text.encode(), mode, durable=durable, disk=disk)


def write_bytes(
    path: Path, data: bytes, mode: int | None = None, *, durable: bool = True, disk: Disk = DISK
) -> None:
    """Replace `path`, or create it. A symbolic link there is replaced itself; its target is not touched.

    Without a `mode` an existing file keeps its permission bits and a new one gets 0644 less the umask.
    `durable=False` leaves out the fsyncs: for caches, which may vanish in a power cut.
    """
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        write_at(directory, path.name, data, mode, durable=durable, disk=disk)
    except OSError as error:
        if error.filename == path.name:
            error.filename = str(path)  # the last name alone would say little
        raise
    finally:
        os.close(directory)


def write_at(
    directory: int,
    name: str,
    data: bytes | Iterable[bytes],
    mode: int | None = None,
    *,
    durable: bool = True,
    disk: Disk = DISK,
) -> None:
    """`write_bytes` in a directory that is already open, as `make_dirs_inside` gives one.

    `data` may come in blocks. If one of them cannot be made, the old file stays.
    """
    if "/" in name:
        raise UnsafePath(
            f"`{name}` is not a plain file name", "open the directory it is in, and give the last name"
        )
    if mode is None:
        mode = _kept_mode(directory, name)
    # A process killed half-way leaves this file behind; its name says whose it is and that it may go.
    temporary = f".samuel-{os.urandom(8).hex()}.tmp"
    with errors_naming(name, instead_of=temporary):
        fd = disk.create(temporary, directory, 0o644 if mode is None else mode)
        try:
            try:
                if mode is not None:
                    disk.chmod(fd, mode)  # the umask has trimmed what `create` was given
                for block in (data,) if isinstance(data, bytes) else data:
                    _write_all(fd, block, disk)
                if durable:
                    disk.fsync(fd)  # before the rename, or the new name may come to stand for an empty file
            finally:
                os.close(fd)
            disk.replace(temporary, name, directory)
        except BaseException:
            with suppress(OSError):  # the first failure is the one to report
                disk.remove(temporary, directory)
            raise
        if durable:
            disk.fsync(directory)  # the rename itself lives in the directory


def _kept_mode(directory: int, name: str) -> int | None:
    try:
        old = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    # A link's own bits (always 0777 on Linux) say nothing about a file.
    return old & 0o777 if stat.S_ISREG(old) else None


def _write_all(fd: int, data: bytes, disk: Disk) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[disk.write(fd, rest) :]
