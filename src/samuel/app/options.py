"""What a program may replace when it opens a project, in two groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from samuel import paths
from samuel.clock import Clock, SystemClock
from samuel.config.model import Config
from samuel.files.atomic import DISK, Disk


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Settings that hold for one opened project, instead of those of its files and of the environment."""

    config: Config | None = None
    """Instead of samuel.toml."""

    methodology: str = ""
    """Instead of `default_methodology`."""

    environment: str = ""
    """dev, prod, …: instead of SAMUEL_ENV and the settings."""

    trust_everything: bool | None = None
    """Instead of SAMUEL_TRUST: True runs every hook, False only those that the user trusts."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What of this machine a project uses; tests replace it."""

    user: paths.User = field(default_factory=paths.User.from_environment)
    """The user's home, state and cache directories."""

    clock: Clock = field(default_factory=SystemClock)
    """Time, ids and sleep."""

    disk: Disk = DISK
    """How the files of a run are written."""
