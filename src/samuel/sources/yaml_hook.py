"""The hook that one `.system/hooks/*.yaml` declares, as it is cached, and in which environments it is active.

Names of environments (dev, prod, …) compare without case. A hook with `environments` is active in those alone. A
guard is also active if the environment is uncertain: none is set, or no setting, hook or ability uses its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from samuel.base.printable import shell_word
from samuel.config.reader import ConfigTable
from samuel.events import event_type
from samuel.hooks.guards import may_deny
from samuel.hooks.handler import HandlerMode, Role

SCRIPT, PYTHON, BUILTIN = "script", "python", "builtin"
Names = Callable[[], Iterable[str]]
REGISTRY = (".system/registry/high-level", ".system/registry/low-level")  # where abilities name environments
HOW = "`--env`, SAMUEL_ENV, or `environment` in ~/.samuel/config.toml or samuel.toml says which it is"


class YamlHook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    events: tuple[str, ...]
    spelled: tuple[str, ...]  # the events as the file spells them
    kind: str
    command: str  # what it runs, in one line: a command, `file.py:function` or a built-in's name
    words: tuple[str, ...] = ()  # script: the program and its arguments
    shell: bool = False
    protocol: str = ""  # script: `claude/PreToolUse` for a script that was written for this event of this agent
    file: str = ""  # python: a file of the project
    module: str = ""  # python: or a module to import; builtin: `module:function`
    function: str = ""
    enabled: bool = True
    environments: tuple[str, ...] = ()  # where it is active; everywhere if empty
    blocking: bool = False
    role: Role | None = None  # from the file; a builtin that only suggests is an observer without saying so
    mode: HandlerMode = HandlerMode.ENFORCE
    order: int | None = None
    timeout: float | None = None
    serial: bool = False
    background: bool = False
    match: dict[str, Any] = {}
    config: dict[str, Any] = {}  # `plugin.config` of its events
    required_key: str = ""  # builtin: the key of `config` without which it has nothing to do
    summary: str = ""

    def switched_off(self, file: str) -> str:
        """Why it is active in no environment; "" if it is in some."""
        if not self.enabled:
            return f"`enabled: false` in {file}; `samuel hooks enable {shell_word(self.id)}` turns it on"
        return self.unconfigured(file)

    def unconfigured(self, file: str) -> str:
        """Why a hook that comes with Samuel has nothing to do yet; "" if it has."""
        if not self.required_key or self.config.get(self.required_key):
            return ""
        return f"it has nothing to do: `{self.required_key}` below `config` in {file} is empty"


class ShippedHook(NamedTuple):
    """A hook that a YAML file can name with `kind: builtin`. Their table is in `shipped/`."""

    events: tuple[str, ...]
    """The events that it handles, and no other."""
    function: str
    """`module:function`, imported by the worker that runs it."""
    read_config: Callable[[ConfigTable], msgspec.Struct]
    """Reads and checks the values below `config:`."""
    required_key: str = ""
    """The key of `config` without which the hook has nothing to do."""
    only_suggests: bool = False
    """It never denies: where it cannot run, nothing is left unguarded."""


ShippedHooks = Mapping[str, ShippedHook]


class Environment:
    """The environment that Samuel runs in."""

    def __init__(
        self, name: str = "", settings: Iterable[str] = (), hooks: Names = list, abilities: Names = list
    ) -> None:
        """`settings`, `hooks` and `abilities` give the names that these use; each is called only if it matters."""
        self.name = name
        self._settings = settings
        self._hooks = hooks
        self._abilities = abilities
        self.asked_abilities = False

    @cached_property
    def is_known(self) -> bool:
        """Whether some setting, hook or ability uses the name of this environment."""
        if not self.name:
            return False
        if _among(self.name, self._settings) or _among(self.name, self._hooks()):
            return True
        self.asked_abilities = True
        return _among(self.name, self._abilities())

    def holds(self, hook: YamlHook, event: str) -> bool:
        """Whether a hook is active here for one of its events."""
        if not hook.environments or _among(self.name, hook.environments):
            return True
        return may_deny(event_type(event), hook.role, blocking=hook.blocking) and not self.is_known

    def inactive(self, hook: YamlHook) -> str:
        """Why a hook is active for none of its events here; "" if it is for some."""
        if any(self.holds(hook, event) for event in hook.events):
            return ""
        here = f"this is `{self.name}`" if self.name else "no environment is set"
        return f"it is for {' and '.join(f'`{name}`' for name in hook.environments)}, and {here}; {HOW}"


def _among(name: str, names: Iterable[str]) -> bool:
    return name.casefold() in {other.casefold() for other in names}
