"""Reading files of a local clone, and the commit that they are of. Nothing of a clone is kept."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Clone:
    """A git repository on this machine, with or without a work tree."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def version(self) -> str:
        """The commit that is read, with its date: `0b8d25a 2026-08-07`."""
        return self._git("log", "-1", "--format=%h %cs", "--abbrev=7").strip()

    def names(self, directory: str, ending: str = "") -> list[str]:
        listed = self._git("ls-tree", "-r", "--name-only", "HEAD", f"{directory}/").splitlines()
        return [name for name in listed if name.endswith(ending)]

    def text(self, name: str) -> str:
        return self._git("show", f"HEAD:{name}")

    def texts(self, directory: str, ending: str = "") -> list[tuple[str, str]]:
        """The files below a directory, each with its name. Git is started once for all of them."""
        names = self.names(directory, ending)
        request = "".join(f"HEAD:{name}\n" for name in names).encode()
        output = subprocess.run(
            ["git", "-C", self.path, "cat-file", "--batch"], input=request, capture_output=True, check=True
        ).stdout
        contents, position = [], 0
        for name in names:
            end = output.index(b"\n", position)
            size = int(output[position:end].split()[-1])
            contents.append((name, output[end + 1 : end + 1 + size].decode("utf-8", "replace")))
            position = end + size + 2
        return contents

    def _git(self, *args: str) -> str:
        done = subprocess.run(["git", "-C", self.path, *args], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")
