"""The forges that issues can be read from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from samuel.forge.forge import Forge
from samuel.forge.github import GitHub

FORGES: dict[str, Callable[[Path, str], Forge]] = {"github": GitHub}
"""By the name that `--from` has; each opens the repository of a directory, or the one that is named."""


def open_forge(name: str, root: Path, repository: str = "") -> Forge:
    return FORGES[name](root, repository)
