"""What a program may replace when it opens a project, in two groups."""

from __future__ import annotations

import msgspec

from samuel.agents.early_ends import EarlyEnds
from samuel.base import paths
from samuel.base.clock import Clock, SystemClock
from samuel.config.model import Config
from samuel.files.atomic import DISK, Disk
from samuel.hooks.handler import Handler
from samuel.journal import Journal


class Overrides(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for one opened project, instead of those of its files and of the environment.

    `config` replaces samuel.toml, `methodology` its `default_methodology`. `environment` (dev, prod, …) replaces
    SAMUEL_ENV and the settings. `trust_everything` replaces SAMUEL_TRUST: true runs every hook, false only those
    that the user trusts. `enclosing` are the roots of the projects around this one whose guards are asked, too;
    None: of all those in which the user trusts something. `user_guards` are guards of the user's beside those in
    their files; they live in this process.
    """

    config: Config | None = None
    methodology: str = ""
    environment: str = ""
    trust_everything: bool | None = None
    enclosing: tuple[str, ...] | None = None
    user_guards: tuple[Handler, ...] = ()


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What a project uses of the machine; tests replace it.

    `user` is where the user's home, state and cache directories are, `clock` gives time, ids and sleep, `disk`
    writes the files of a run. `forks`: this process may fork to run Python hooks, since it lives for one event.
    """

    user: paths.User = msgspec.field(default_factory=paths.User.from_environment)
    clock: Clock = msgspec.field(default_factory=SystemClock)
    disk: Disk = DISK
    forks: bool = False


class AppLane(msgspec.Struct, frozen=True, kw_only=True):
    """A lane of a run: the project opened once more, in a work tree of its own, with the run's journal."""

    number: int
    journal: Journal
    machine: str = ""
    """The machine that this is, in a run with several of them."""
    early_ends: EarlyEnds = msgspec.field(default_factory=EarlyEnds)
    """Those of the run."""
