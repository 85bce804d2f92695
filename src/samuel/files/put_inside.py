"""Make single paths below a root what they have to be, where an agent may have replaced anything on the way.

No link is followed. A link or a file where a directory must be is removed. A directory where a file must be is
removed when only empty directories are in it; else it is moved to `.samuel/run/aside`, so that nothing is lost.
Idempotent: a path that is already right is not touched.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from samuel.base.paths import HOME
from samuel.files import atomic, inside
from samuel.files.atomic import DISK, Disk

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_EXECUTABLE = 0o111
ASIDE = "aside"


def put_file(root: Path, path: str, content: bytes, *, executable: bool, disk: Disk = DISK) -> bool:
    """Make root/path a regular file with this content; whether anything had to change."""
    names = path.split("/")
    with _directories(root, names[:-1], make=True) as directories:
        directory, name = directories[-1], names[-1]
        mode = _mode(directory, name)
        same = stat.S_ISREG(mode) and _content(directory, name, len(content)) == content
        if not same:
            with _writable(directory):
                _clear(root, directory, name, mode)
                # A file that its owner may not read is made readable, so that it can be checked.
                own = stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR if stat.S_ISREG(mode) else None
                atomic.write_at(directory, name, content, own, durable=False, disk=disk)
        # After the content: repeated after a kill in between, only this is left to do.
        return _set_executable(directory, name, executable) or not same


def put_link(root: Path, path: str, target: bytes, disk: Disk = DISK) -> bool:
    """Make root/path a symbolic link to `target`; whether anything had to change."""
    names = path.split("/")
    with _directories(root, names[:-1], make=True) as directories:
        directory, name = directories[-1], names[-1]
        mode = _mode(directory, name)
        if stat.S_ISLNK(mode) and os.fsencode(os.readlink(name, dir_fd=directory)) == target:
            return False
        with _writable(directory):
            _clear(root, directory, name, mode)
            if mode and not stat.S_ISDIR(mode):
                disk.remove(name, directory)
            os.symlink(os.fsdecode(target), name, dir_fd=directory)
    return True


def remove_path(root: Path, path: str, disk: Disk = DISK) -> bool:
    """Remove the file or link at root/path and the directories that become empty; whether anything was there.

    A directory at root/path stays, unless it is empty: what is in it has paths of its own.
    """
    names = path.split("/")
    with _directories(root, names[:-1], make=False) as directories:
        mode = _mode(directories[-1], names[-1]) if len(directories) == len(names) else 0
        # Also when nothing is there: a removal that was killed may have left empty directories.
        with suppress(_NotEmpty):
            if mode:
                _remove_entry(directories[-1], names[-1], mode, disk)
            for directory, name in reversed(list(zip(directories[:-1], names, strict=False))):
                _remove_entry(directory, name, stat.S_IFDIR, disk)
    return mode != 0


def move_aside(root: Path, path: str) -> None:
    """Move the file at root/path to `.samuel/run/aside`, if it is there."""
    names = path.split("/")
    with _directories(root, names[:-1], make=False) as directories:
        if len(directories) == len(names) and _mode(directories[-1], names[-1]):
            with _writable(directories[-1]):
                _move(root, directories[-1], names[-1])


class _NotEmpty(Exception):
    pass


def _remove_entry(directory: int, name: str, mode: int, disk: Disk) -> None:
    with _writable(directory):
        if not stat.S_ISDIR(mode):
            disk.remove(name, directory)
            return
        try:
            os.rmdir(name, dir_fd=directory)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                raise _NotEmpty from None
            raise


@contextmanager
def _directories(root: Path, names: Sequence[str], *, make: bool) -> Iterator[list[int]]:
    """The root and each directory below it, open, down to the first that is missing or no directory.

    With `make` there are all of them: whatever is no directory is replaced by one.
    """
    open_directories = [os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
    try:
        for name in names:
            parent = open_directories[-1]
            if make:
                with _writable(parent):
                    _make_directory(parent, name)
            try:
                open_directories.append(_open_directory(parent, name))
            except OSError as error:
                if make or error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                    raise
                break
        yield open_directories
    finally:
        for directory in open_directories:
            os.close(directory)


def _open_directory(parent: int, name: str) -> int:
    """A directory, open; one that its owner may not read is made readable, since a file could not be put there."""
    try:
        return os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        if not hasattr(os, "O_PATH"):
            raise
        fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(os.fstat(fd).st_mode) | stat.S_IRWXU)
        finally:
            os.close(fd)
        return os.open(name, _DIRECTORY, dir_fd=parent)


def _make_directory(parent: int, name: str) -> None:
    mode = _mode(parent, name)
    if mode and not stat.S_ISDIR(mode):
        os.unlink(name, dir_fd=parent)
    if not stat.S_ISDIR(mode):
        os.mkdir(name, 0o777, dir_fd=parent)


def _clear(root: Path, directory: int, name: str, mode: int) -> None:
    """Make room for a file where a directory is."""
    if not stat.S_ISDIR(mode):
        return
    with suppress(OSError):
        _remove_empty(directory, name)
        return
    _move(root, directory, name)


def _move(root: Path, directory: int, name: str) -> None:
    """Move an entry of an open directory to `.samuel/run/aside`."""
    place = inside.make_dirs_inside(root, HOME, "run", ASIDE, mode=0o755)
    try:
        names = set(os.listdir(place))
        free = next(number for number in range(1, len(names) + 2) if f"{name}.{number}" not in names)
        os.rename(name, f"{name}.{free}", src_dir_fd=directory, dst_dir_fd=place)
    finally:
        os.close(place)


def _remove_empty(directory: int, name: str) -> None:
    """Remove a directory with nothing but directories in it. Raises OSError at the first other thing."""
    fd = os.open(name, _DIRECTORY, dir_fd=directory)
    try:
        for entry in os.listdir(fd):
            _remove_empty(fd, entry)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=directory)


def _mode(directory: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _content(directory: int, name: str, size: int) -> bytes | None:
    """The content of a file that has `size` bytes; None for any other."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return None
    with open(fd, "rb") as file:
        return file.read(size + 1) if os.fstat(fd).st_size == size else None


def _set_executable(directory: int, name: str, executable: bool) -> bool:
    """Give the file the right execute bits, as git does: for everybody who may read it."""
    mode = stat.S_IMODE(_mode(directory, name))
    if bool(mode & stat.S_IXUSR) == executable:
        return False
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    try:
        os.fchmod(fd, mode | (mode & 0o444) >> 2 if executable else mode & ~_EXECUTABLE)
    finally:
        os.close(fd)
    return True


@contextmanager
def _writable(directory: int) -> Iterator[None]:
    """Let the owner write in the directory meanwhile, whatever mode an agent gave it."""
    status = os.fstat(directory)
    changed = not status.st_mode & stat.S_IWUSR and status.st_uid == os.geteuid()
    if changed:
        os.fchmod(directory, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
    try:
        yield
    finally:
        if changed:
            os.fchmod(directory, stat.S_IMODE(status.st_mode))


def put_aside(directory: Path, name: str) -> str:
    """Rename `directory/name`, whatever it is; gives where it lies now, relative to `directory`."""
    place = _place(directory)
    target = _free_name(place, os.path.basename(name))
    os.rename(directory / name, place / target)
    return f"{ASIDE}/{target}"


def keep_aside(directory: Path, name: str, content: bytes) -> str:
    """Write a copy of a file that is about to be replaced; gives where it lies, relative to `directory`."""
    place = _place(directory)
    target = _free_name(place, name)
    atomic.write_bytes(place / target, content, 0o600, durable=False)
    return f"{ASIDE}/{target}"


def _place(directory: Path) -> Path:
    place = directory / ASIDE
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            os.unlink(place)
    place.mkdir(exist_ok=True)
    return place


def _free_name(place: Path, name: str) -> str:
    return next(free for number in count(1) if not os.path.lexists(place / (free := f"{name}.{number}")))
