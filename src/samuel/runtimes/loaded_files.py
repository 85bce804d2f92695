"""The files from which a worker has loaded modules: once one of them changed, a new worker has to load them anew.

The hook itself and what lies beside it are looked at before every call, by the permit. But a hook may import any
other file, and a process of its own would find that file as it is now.
"""

from __future__ import annotations

import os
import sys

from samuel.sha256 import sha256

Signature = tuple[int, int, int]


class LoadedFiles:
    """The files of modules outside of the standard library and Samuel, and the directories that hold packages."""

    def __init__(self) -> None:
        samuel = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self._others = (f"{os.path.dirname(os.__file__)}/", f"{samuel}/")
        self._modules = 0
        self._signatures: dict[str, Signature] = {}
        self._contents: dict[str, bytes] = {}
        self._looked_at: set[str] = set()

    def note(self) -> None:
        """Remember what was loaded since the last time."""
        if len(sys.modules) == self._modules:
            return
        self._modules = len(sys.modules)
        for name, module in list(sys.modules.items()):
            if name in self._looked_at:
                continue
            self._looked_at.add(name)
            file = getattr(module, "__file__", None)
            if not isinstance(file, str):
                continue
            # Packages are installed and removed as a whole: their directory tells, for all of them at once.
            installed = next((part for part in ("site-packages", "dist-packages") if f"/{part}/" in file), "")
            if installed:
                file = file[: file.index(f"/{installed}/") + len(installed) + 1]
            elif file.startswith(self._others):
                continue
            if file not in self._signatures:
                self._signatures[file] = _signature(file)
                if not installed:
                    self._contents[file] = _content(file)

    def changed(self) -> bool:
        """Whether a file is not what it was when it was noted. One that was only written again is."""
        for file, before in self._signatures.items():
            now = _signature(file)
            if now != before:
                if self._contents.get(file) != _content(file):
                    return True
                self._signatures[file] = now
        return False


def _signature(file: str) -> Signature:
    try:
        status = os.stat(file)
    except OSError:
        return 0, 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ino


def _content(file: str) -> bytes:
    """The digest of a file; b"" for what cannot be read, which equals nothing that was noted."""
    try:
        with open(file, "rb") as opened:
            return sha256(opened.read()).digest()
    except OSError:
        return b""
