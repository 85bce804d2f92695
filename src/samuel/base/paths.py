"""Where things are. Nothing else in Samuel spells these names."""

from __future__ import annotations

import os
import pwd
from hashlib import sha256
from pathlib import Path

import msgspec

from samuel.base.errors import UsageError
from samuel.base.project_root import CONFIG as CONFIG
from samuel.base.project_root import YAML_HOOKS as YAML_HOOKS
from samuel.base.project_root import project_root

HOME = ".samuel"
HOOK_DIRS = (".samuel/hooks", ".kodelet/hooks")  # below a project's root and below the user's home
SYSTEM = ".system"  # of a project: YAML hooks, the registry of abilities, and what hooks log
VOLATILE_DIRS = (
    ".samuel/run/",
    ".system/logs/",
    ".system/cache/",
    ".system/implement/",
)  # written by Samuel all the time: never part of what an agent changed
PROTECTED = (CONFIG, HOME, YAML_HOOKS, ".kodelet/hooks")  # the rules of a run: an agent must not change them
PLUGIN_DIRS = (".samuel/plugins", ".kodelet/plugins")  # likewise
TEXT_HOMES = (".samuel", ".kodelet")  # likewise: what holds their skills/ and recipes/
SKILL_HOMES = (*TEXT_HOMES, ".agents", ".claude")  # the last two hold the skills of other agents
LIVE = "live"  # in the user's state: which runs are under way
CANARIES = "canaries"  # in the user's state: which proofs of bridges are under way
DISABLED = ".disable"  # the ending that switches a hook file off
LOCK = "samuel.lock"  # beside samuel.toml; the user's own in ~/.samuel
CLIENT_DIRS = (".claude", ".codex", ".cursor")  # of a project: agents keep settings and state of their own there
SCRIPTED = ".samuel/scripted"  # the steps of the scripted agent


class Project(msgspec.Struct, frozen=True):
    """One project's places, all below its root (the directory that holds samuel.toml)."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / CONFIG

    @property
    def home(self) -> Path:
        return self.root / HOME

    @property
    def hooks(self) -> Path:
        return self.home / "hooks"

    @property
    def lock(self) -> Path:
        """Which plugins the project has, exactly."""
        return self.root / LOCK

    @property
    def run(self) -> Path:
        return self.home / "run"

    def state(self, methodology: str, *, several: bool) -> Path:
        """Where a methodology keeps its run. It has a directory of its own as soon as there is a second one."""
        return self.run / methodology if several else self.run

    @property
    def quarantine(self) -> Path:
        """What a sandboxed agent left that git would have run something from."""
        return self.run / "quarantine"

    @property
    def journal(self) -> Path:
        return self.run / "journal"

    @property
    def sessions(self) -> Path:
        return self.run / "sessions"

    @property
    def templates(self) -> Path:
        return self.home / "templates"

    def data_dir(self, plugin: str) -> Path:
        """Where a plugin may write: `.samuel/run/plugins/<name>/`."""
        return self.run / "plugins" / plugin.replace("/", "@")


class User(msgspec.Struct, frozen=True):
    """One user's places: hooks of their own, what they agreed to, and caches that may be thrown away."""

    home: Path
    state: Path
    cache: Path

    @property
    def config(self) -> Path:
        return self.home / HOME / "config.toml"

    @property
    def lock(self) -> Path:
        return self.home / HOME / LOCK

    @property
    def environments(self) -> Path:
        """Python environments of plugins, each by what is in it."""
        return self.state / "environments"

    def record(self, state: Path) -> Path:
        """What the runs of one state directory must know again, and no sandboxed agent may write."""
        return self.records / record_name(state)

    @property
    def records(self) -> Path:
        """A directory for each state directory that has had a run."""
        return self.state / "runs"

    @property
    def dashboard(self) -> Path:
        """Which browsers the dashboard knows."""
        return self.state / "dashboard"

    @property
    def live(self) -> Path:
        """Which loops and agent sessions are under way."""
        return self.state / LIVE

    @classmethod
    def from_environment(cls) -> User:
        """The user that the environment names. Raises UsageError when their home is not an existing directory."""
        home = home_directory()
        if problem := home_problem(home):
            raise UsageError(problem, "set `HOME` to the absolute path of a directory that exists")
        state = _xdg_directory("XDG_STATE_HOME") or home / ".local" / "state"
        cache = _xdg_directory("XDG_CACHE_HOME") or home / ".cache"
        return cls(home=home, state=state / "samuel", cache=cache / "samuel")


def record_name(state: Path) -> str:
    """What the record of a state directory is called, among those of others."""
    return sha256(os.fsencode(os.path.realpath(state))).hexdigest()[:32]


def home_directory() -> Path:
    """HOME, or the account's; where neither is known, something relative, which is refused."""
    try:
        return Path(os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a number without a name, as containers have them
        return Path("~")


def home_problem(home: Path) -> str:
    """Why Samuel refuses this home directory; "" if it does not.

    A relative one would be looked up in the project, where a clone could bring agreements along. Without one that
    exists, the user's own guards and agreements would be left out in silence.
    """
    if not home.is_absolute():
        return f"the home directory `{home}` is not an absolute path"
    return "" if os.path.isdir(home) else f"the home directory `{home}` does not exist"


def _xdg_directory(variable: str) -> Path | None:
    """What the variable names; the specification says to ignore a relative path."""
    value = os.environ.get(variable, "")
    return Path(value) if os.path.isabs(value) else None


def find_root(start: Path) -> Path:
    """The root of the project that `start` belongs to."""
    return Path(project_root(str(start.resolve())))
