"""The files from which a worker has loaded modules: once one of them changed, a new worker has to load them.

The hook itself and what lies beside it are looked at before every call, by the permit. But a hook may import any
other file, and a process of its own would find that file as it is now.
"""

from __future__ import annotations

import os
import sys

from samuel.files.survey import Signature, signature, target_signature


class LoadedFiles:
    """The files of modules outside of the standard library and Samuel, and the directories on Python's path."""

    def __init__(self) -> None:
        samuel = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self._others = (f"{os.path.dirname(os.__file__)}/", f"{samuel}/")
        self._modules = 0
        self._signatures: dict[str, Signature] = {}
        self._looked_at: set[str] = set()

    def before_load(self, file: str, status: os.stat_result) -> None:
        """Remember a source as it is before it is read: it may change while the hook that imports it runs."""
        if installed := _installed(file):
            self._remember(installed)
        elif not file.startswith(self._others):
            self._signatures[file] = signature(status)

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
            if isinstance(file, str) and not file.startswith(self._others):
                self._remember(_installed(file) or file)
                self._remember_directory(os.path.dirname(file))
            elif isinstance(file, str) and (installed := _installed(file)):  # in the standard library's directory
                self._remember(installed)
        for directory in sys.path:
            self._remember_directory(directory)

    def changed(self) -> bool:
        """Whether a new worker may load something else."""
        return any(target_signature(file) != before for file, before in self._signatures.items())

    def _remember_directory(self, directory: str) -> None:
        """A module that appears in it would be found by a new worker, or found before another one."""
        if not f"{directory}/".startswith(self._others):
            self._remember(_installed(f"{directory}/") or os.path.abspath(directory))

    def _remember(self, file: str) -> None:
        if file not in self._signatures:
            self._signatures[file] = target_signature(file)


def _installed(file: str) -> str:
    """The directory of installed packages that has a file, or "".

    Packages are installed and removed as a whole: their directory tells, for all of them at once.
    """
    for name in ("site-packages", "dist-packages"):
        before, separator, _ = file.partition(f"/{name}/")
        if separator:
            return f"{before}/{name}"
    return ""
