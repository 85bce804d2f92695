"""The walls around plugins, imported when the first plugin is called: most hooks have none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samuel.confine.walls.limits import ProcessLimits
    from samuel.runtimes.confined import Confinement

WallLimits = Callable[[], "ProcessLimits"]


def confine_plugins(root: Path, cache: Path, kind: str, limits: WallLimits | None) -> Confinement:
    """The walls of a project."""
    from samuel.runtimes.confined import Confinement  # a quarter of the time of a call without a server

    return Confinement(root, cache, kind, limits()) if limits else Confinement(root, cache, kind)
