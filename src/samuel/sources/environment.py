"""Where Samuel runs (dev, prod, …), and who takes part there.

Names compare without case. A hook for some environments waits for one of them, except that a guard holds wherever
it is not certain that one is elsewhere: no environment is set, or nothing here knows the one that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from samuel.events import event_type
from samuel.hooks.guards import may_deny
from samuel.sources.yaml_hook import YamlHook

Names = Callable[[], Iterable[str]]


class Environment:
    def __init__(
        self, name: str = "", settings: Iterable[str] = (), hooks: Names = list, abilities: Names = list
    ) -> None:
        """`settings`, `hooks` and `abilities` give the names that these use; each is asked only if it matters."""
        self.name = name
        self._settings = settings
        self._hooks = hooks
        self._abilities = abilities
        self.asked_abilities = False

    @cached_property
    def is_known(self) -> bool:
        """Whether some setting, hook or ability has a name for where this is."""
        if not self.name:
            return False
        if _among(self.name, self._settings) or _among(self.name, self._hooks()):
            return True
        self.asked_abilities = True
        return _among(self.name, self._abilities())

    def holds(self, hook: YamlHook, event: str) -> bool:
        """Whether a hook takes part here on one of its events."""
        if not hook.environments or _among(self.name, hook.environments):
            return True
        return may_deny(event_type(event), hook.role, blocking=hook.blocking) and not self.is_known

    def elsewhere(self, hook: YamlHook) -> str:
        """Why a hook takes part on none of its events here; "" if it does on some."""
        if any(self.holds(hook, event) for event in hook.events):
            return ""
        here = f"this is `{self.name}`" if self.name else "no environment is set"
        return f"it is for {' and '.join(f'`{one}`' for one in hook.environments)}, and {here}; {HOW}"


REGISTRY = (".system/registry/high-level", ".system/registry/low-level")  # where abilities name environments
HOW = "`--env`, SAMUEL_ENV, or `environment` in ~/.samuel/config.toml or samuel.toml says which it is"


def _among(name: str, names: Iterable[str]) -> bool:
    return name.casefold() in {one.casefold() for one in names}
