"""Digests of files and directories: the content that a user agrees to.

A hook can load any file beside it, so its content is its whole directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from samuel.base import paths
from samuel.files.regular import LARGEST, open_regular
from samuel.files.survey import Signature, TooManyFiles, survey


class Digests:
    """A cache of the digests of files: a file is read again only when its signature changes."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[Signature, str]] = {}

    def of(self, path: str, signature: Signature) -> str:
        cached = self._cache.get(path)
        if cached is not None and cached[0] == signature:
            return cached[1]
        fresh = digest_file(path)
        self._cache[path] = (signature, fresh)
        return fresh


def digest_file(path: str) -> str:
    """The digest of a file's executable bit and content, and of a link's target; "" if that cannot be read.

    A file that is larger than any program counts as one that cannot be read.
    """
    return read_file(path, keep=0)[0]


def read_file(path: str, keep: int) -> tuple[str, bytes]:
    """The digest of a file, and the first `keep` bytes of exactly what was digested.

    The file is read only once: the user must see exactly what they agree to, even if the file changes meanwhile.
    """
    try:
        fd = open_regular(path)
        try:
            return read_opened(fd, path, keep)
        finally:
            os.close(fd)
    except OSError:
        return "", b""


def read_opened(fd: int, path: str, keep: int) -> tuple[str, bytes]:
    """The same of the file that was opened by `path` as this descriptor. Raises OSError."""
    os.lseek(fd, 0, os.SEEK_SET)
    status = os.fstat(fd)
    if status.st_size > LARGEST:
        return "", b""
    whole, beginning = sha256(), bytearray()
    if os.path.islink(path):
        whole.update(b"link\0" + os.readlink(path).encode(errors="surrogateescape") + b"\0")
    whole.update(b"x\0" if status.st_mode & 0o111 else b"-\0")
    while chunk := os.read(fd, 1 << 20):
        whole.update(chunk)
        beginning += chunk[: max(0, keep - len(beginning))]
    return whole.hexdigest(), bytes(beginning)


def tree_digest(directory: str, signatures: Mapping[str, Signature], digests: Digests) -> str:
    """The digest of all files in a directory; "" if one of them cannot be read."""
    whole = sha256()
    for path in sorted(signatures):
        if not (digest := digests.of(os.path.join(directory, path), signatures[path])):
            return ""
        whole.update(f"{digest} {path}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()


def digest_text(text: str) -> str:
    """The digest of a text that is not a file."""
    return sha256(text.encode()).hexdigest()


def agreed_digest(words: str, content: str) -> str:
    """The digest that an agreement to a plugin records: of the text that the user read, and of its content."""
    return digest_text(f"{words}content sha256 {content}\n")


def single_file_directories(root: Path) -> frozenset[str]:
    """Where a file that is run counts alone: in the root, and where agents write files of their own."""
    return frozenset((str(root), *(str(root / directory) for directory in paths.CLIENT_DIRS)))


def with_neighbours(root: Path, running: Iterable[str]) -> dict[str, Path]:
    """The files that are run, by name, with the other files in their directories (see above for exceptions)."""
    there = sorted(path for path in dict.fromkeys(running) if os.path.isfile(path))
    alone = single_file_directories(root)
    files = {os.path.relpath(path, root): Path(path) for path in there if os.path.dirname(path) in alone}
    for directory in dict.fromkeys(map(os.path.dirname, there)):
        if directory not in alone:
            files |= _inside(directory, root)
    return files


def _inside(directory: str, root: Path) -> dict[str, Path]:
    relative = os.path.relpath(directory, root)
    try:
        names = sorted(survey(directory))
    except (OSError, TooManyFiles):
        return {relative: Path(directory)}  # as something that cannot be read, rather than not at all
    return {os.path.join(relative, name): Path(directory, name) for name in names}
