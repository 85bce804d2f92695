"""Reads and replaces one file of a client: plain files only, never through a symbolic link."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import ConfigError, Problem
from samuel.base.printable import shell_word
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside, open_inside

LARGEST = 4 * 1024 * 1024
BOM = b"\xef\xbb\xbf"


class ClientText(NamedTuple):
    """The text of a file, without the byte order mark that it may have."""

    text: str
    bom: bool = False

    def encoded(self, text: str) -> bytes:
        """Another text with the same beginning."""
        return (BOM if self.bom else b"") + text.encode()


def read(base: Path, path: str) -> ClientText | None:
    """The text of base/path; None if there is no such file. ConfigError if it cannot be edited here."""
    file = base / path
    try:
        if file.is_symlink():
            target = os.path.realpath(file)
            raise refusal(file, f"the file is a symbolic link to {target}", hint="put the file itself there")
        fd = open_inside(base, path, flags=os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refusal(file, f"the file cannot be read: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise refusal(file, "this is not a regular file", hint="put a plain file there, or remove it")
        with open(fd, "rb", closefd=False) as opened:
            data = opened.read(LARGEST + 1)
    finally:
        os.close(fd)
    if len(data) > LARGEST:
        raise refusal(file, f"the file is larger than {LARGEST} bytes")
    return _decoded(file, data)


def check_writable(base: Path, path: str) -> None:
    """Raise ConfigError if base/path or its directory is read-only."""
    file = base / path
    # By its bits, not by asking the kernel: an atomic replacement does not need to write to the file, and root
    # may write to any. Who made it read-only means it.
    with suppress(FileNotFoundError):
        if not file.stat().st_mode & 0o222:
            raise refusal(file, "the file is read-only", hint=f"`chmod u+w {shell_word(file)}` makes it writable")
    directory = file.parent
    while not directory.exists() and directory != directory.parent:
        directory = directory.parent
    if not os.access(directory, os.W_OK | os.X_OK):
        raise refusal(directory, "the directory is read-only")


def write(base: Path, path: str, data: bytes, *, executable: bool) -> list[Path]:
    """Replace or create base/path. Returns the directories that it made."""
    new_directories = [directory for directory in (base / path).parents if not directory.exists()]
    *parents, name = path.split("/")
    base.mkdir(parents=True, exist_ok=True)
    directory = make_dirs_inside(base, *parents, mode=0o755) if parents else os.open(base, os.O_RDONLY)
    try:
        exists = (base / path).exists()
        mode = (0o755 if executable else None) if not exists else None
        atomic.write_at(directory, name, data, mode)
    except OSError as error:
        raise refusal(base / path, f"the file cannot be written: {error.strerror}") from None
    finally:
        os.close(directory)
    return new_directories


def delete(base: Path, path: str, directories: frozenset[Path]) -> None:
    """Remove base/path, then those of `directories` above it that are empty."""
    file = base / path
    file.unlink(missing_ok=True)
    for directory in file.parents:
        if directory not in directories:
            return
        try:
            directory.rmdir()
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                return
            raise


def refusal(file: Path, what: str, *, line: int = 0, hint: str = "") -> ConfigError:
    return ConfigError([Problem(what, str(file), line, hint)])


def _decoded(file: Path, data: bytes) -> ClientText:
    bom = data.startswith(BOM)
    try:
        return ClientText(data[len(BOM) * bom :].decode(), bom)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise refusal(file, "the file is not UTF-8", line=line, hint="save it as UTF-8") from None
