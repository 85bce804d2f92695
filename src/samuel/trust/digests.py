"""Digests of files and directories: the content that a person agrees to.

A hook can load whatever lies beside it, so its content is its whole directory.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping

from samuel.files.survey import Signature


class Digests:
    """Digests of files, each read once for as long as its signature stays the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Signature, str]] = {}

    def of(self, path: str, found: Signature) -> str:
        known = self._known.get(path)
        if known is not None and known[0] == found:
            return known[1]
        fresh = digest_file(path)
        self._known[path] = (found, fresh)
        return fresh


def digest_file(path: str) -> str:
    """The digest of a file's executable bit and content; of a link, also of its target. "": not readable."""
    return read_file(path, keep=0)[0]


def read_file(path: str, keep: int) -> tuple[str, bytes]:
    """The digest of a file, and the first `keep` bytes of exactly what was digested.

    Read once: what a person is shown must be what they agree to, whatever happens to the file meanwhile.
    """
    whole, kept = hashlib.sha256(), bytearray()
    try:
        if os.path.islink(path):
            whole.update(b"link\0" + os.readlink(path).encode(errors="surrogateescape") + b"\0")
        # O_NONBLOCK: a named pipe must not make us wait for somebody to write to it.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            mode = os.fstat(fd).st_mode
            if not stat.S_ISREG(mode):
                return "", b""
            whole.update(b"x\0" if mode & 0o111 else b"-\0")
            while chunk := os.read(fd, 1 << 20):
                whole.update(chunk)
                kept += chunk[: max(0, keep - len(kept))]
        finally:
            os.close(fd)
    except OSError:
        return "", b""
    return whole.hexdigest(), bytes(kept)


def tree_digest(directory: str, found: Mapping[str, Signature], digests: Digests) -> str:
    """One digest of everything in a directory; "" when something in it cannot be read."""
    whole = hashlib.sha256()
    for path in sorted(found):
        if not (one := digests.of(os.path.join(directory, path), found[path])):
            return ""
        whole.update(f"{one} {path}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()


def digest_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def agreed_digest(words: str, content: str) -> str:
    """What a yes to a plugin is recorded under: the words a person read, and the digest of its content."""
    return digest_text(f"{words}content sha256 {content}\n")
