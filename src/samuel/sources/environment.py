"""The environment that Samuel runs in (dev, prod, …), and which hooks are active in it.

Names compare without case. A hook with `environments` is active in those alone. A guard is also active if the
environment is uncertain: none is set, or no setting, hook or ability uses its name.
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


REGISTRY = (".system/registry/high-level", ".system/registry/low-level")  # where abilities name environments
HOW = "`--env`, SAMUEL_ENV, or `environment` in ~/.samuel/config.toml or samuel.toml says which it is"


def _among(name: str, names: Iterable[str]) -> bool:
    return name.casefold() in {other.casefold() for other in names}
