"""What a worker may load from where a permit covers files: the bytes that it was given for, and no others.

Each file is read once, its digest is compared, and exactly these bytes are compiled: never a path that is read
twice, never bytecode of an earlier time. An extension module is the exception: the system loads it by its path.
"""

from __future__ import annotations

import os
from _frozen_importlib_external import FileLoader  # `importlib.machinery`, without importing it
from functools import lru_cache

from samuel.files.regular import LARGEST
from samuel.trust.content import NO_CONTENT, ContentChanged, TrustedContent
from samuel.trust.digests import read_file


class TrustedFiles:
    """The files that the latest permit of a worker's hooks covers."""

    def __init__(self) -> None:
        self._content = NO_CONTENT
        self._real: dict[str, str] = {}  # the directories of the content, by where they really are
        self._loaded: dict[str, str] = {}  # digests by path
        self.objection = ""  # why a file was not loaded, whatever the hook made of that

    def install(self) -> None:
        """Have Python's own loaders read covered files in this way."""
        original = FileLoader.get_data

        def get_data(loader: FileLoader, path: str) -> bytes:
            file = self.covered(path)
            return original(loader, path) if file is None else self._read(file)

        FileLoader.get_data = get_data  # type: ignore[assignment,method-assign]

    def renew(self, content: TrustedContent) -> bool:
        """Use what a later permit was given for. False if a file was loaded that is another one in it."""
        self._content = content
        self._real = {os.path.realpath(directory): directory for directory in content.directories}
        return all(
            content.has(path, digest) for path, digest in self._loaded.items() if self.covered(path) is not None
        )

    def covered(self, path: str) -> str | None:
        """The path under which the permit covers a file, or would have to; None if it does not."""
        content = self._content
        if path in content.files or not content.directories:
            return path if path in content.files else None
        directory, name = os.path.split(path)
        place = f"{_real_directory(directory)}/"
        for real, covered_directory in self._real.items():
            if place.startswith(f"{real}/"):
                return f"{covered_directory}{place[len(real) :]}{name}"
        return None

    def _read(self, path: str) -> bytes:
        digest, data = read_file(path, LARGEST)
        if not self._content.has(path, digest):
            error = ContentChanged(path)
            self.objection = str(error)
            raise error
        self._loaded[path] = digest
        return data


@lru_cache(maxsize=1000)
def _real_directory(directory: str) -> str:
    return os.path.realpath(directory)
