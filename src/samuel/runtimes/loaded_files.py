"""The files from which a worker has loaded modules: once one of them changed, a new worker has to load them.

The hook itself and what lies beside it are looked at before every call, by the permit. But a hook may import any
other file, and a process of its own would find that file as it is now.
"""

from __future__ import annotations

import os
import sys
from hashlib import sha256

from samuel.files.survey import Signature, signature


class LoadedFiles:
    """The files of modules outside of the standard library and Samuel, and the directories on Python's path."""

    def __init__(self) -> None:
        samuel = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self._others = (f"{os.path.dirname(os.__file__)}/", f"{samuel}/")
        self._modules = 0
        self._signatures: dict[str, Signature] = {}
        self._contents: dict[str, bytes] = {}
        self._without_content: list[str] = []  # files that were loaded since the last note
        self._looked_at: set[str] = set()

    def before_load(self, file: str, status: os.stat_result) -> None:
        """Remember a source as it is before it is read: it may change while the hook that imports it runs."""
        if installed := _installed(file):
            self._remember(installed)
        elif not file.startswith(self._others):
            self._signatures[file] = signature(status)
            self._without_content.append(file)

    def note(self) -> None:
        """Remember what was loaded since the last time."""
        if len(sys.modules) == self._modules and not self._without_content:
            return
        self._modules = len(sys.modules)
        for name, module in list(sys.modules.items()):
            if name in self._looked_at:
                continue
            self._looked_at.add(name)
            file = getattr(module, "__file__", None)
            if not isinstance(file, str):
                continue
            if installed := _installed(file):
                self._remember(installed)
            elif not file.startswith(self._others) and file not in self._signatures:  # not a source
                self._remember(file)
                self._without_content.append(file)
            if not file.startswith(self._others):
                self._remember_directory(os.path.dirname(file))
        for directory in sys.path:
            self._remember_directory(directory)
        while self._without_content:
            file = self._without_content.pop()
            content = _content(file)
            # Else it changed after it was loaded: what was loaded is not known, and equals nothing.
            self._contents[file] = content if _signature(file) == self._signatures[file] else b""

    def changed(self) -> bool:
        """Whether a new worker would load something else. A file that was only written again is the same."""
        for file, before in self._signatures.items():
            now = _signature(file)
            if now != before:
                content = _content(file)
                if not content or self._contents.get(file) != content:
                    return True
                self._signatures[file] = now
        return False

    def _remember_directory(self, directory: str) -> None:
        """A module that appears in it would be found by a new worker, or found before another one."""
        if not f"{directory}/".startswith(self._others):
            self._remember(_installed(f"{directory}/") or os.path.abspath(directory))

    def _remember(self, file: str) -> None:
        if file not in self._signatures:
            self._signatures[file] = _signature(file)


def _installed(file: str) -> str:
    """The directory of installed packages that has a file, or "".

    Packages are installed and removed as a whole: their directory tells, for all of them at once.
    """
    for name in ("site-packages", "dist-packages"):
        before, separator, _ = file.partition(f"/{name}/")
        if separator:
            return f"{before}/{name}"
    return ""


def _signature(file: str) -> Signature:
    try:
        return signature(os.stat(file))
    except OSError:
        return ()


def _content(file: str) -> bytes:
    """The digest of a file; b"" for what cannot be read, which equals nothing that was noted."""
    try:
        with open(file, "rb") as opened:
            return sha256(opened.read()).digest()
    except OSError:
        return b""
