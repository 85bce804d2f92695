"""Files that lanes copy, and that a machine would push with what an attempt left."""

from __future__ import annotations

import os
from collections.abc import Sequence

from samuel.base.errors import SamuelError
from samuel.git.git import Git


def refuse_exposed(git: Git, copied: Sequence[str]) -> None:
    """Raise SamuelError if git neither has nor ignores one of these files: a kept attempt would hold it."""
    if not copied:
        return
    names = [f":(literal){name}" for name in copied]
    output = git.run("ls-files", "-z", "--others", "--exclude-standard", "--", *names)
    if exposed := [os.fsdecode(name) for name in output.split(b"\0") if name]:
        raise SamuelError(
            f"`[lanes] copy` names `{exposed[0]}`, which git does not ignore: machines would push it",
            "add it to .gitignore, and commit that",
        )
