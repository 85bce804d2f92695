"""One hook system and one autonomous loop for every coding agent.

    import samuel

    with samuel.open(".") as app:
        fired = app.fire("quality.check", commands=["pytest -q"])

Names are loaded when they are first used: so `import samuel` in a hook file costs almost nothing.
"""

from __future__ import annotations

from samuel.version import __version__

TYPE_CHECKING = False  # every hook imports this file, and `typing` is slow to import; type checkers know this name
if TYPE_CHECKING:
    from typing import Any

    from samuel import events, shell
    from samuel.app import App, Machine, Overrides, open
    from samuel.base.errors import ConfigError, SamuelError, UnknownEvent, UsageError
    from samuel.dispatch.record import Fired, HandlerCall
    from samuel.hooks.decorator import hook
    from samuel.hooks.handler import Outcome

_WHERE = {
    "App": "samuel.app",
    "ConfigError": "samuel.base.errors",
    "Fired": "samuel.dispatch.record",
    "HandlerCall": "samuel.dispatch.record",
    "Machine": "samuel.app",
    "Outcome": "samuel.hooks.handler",
    "Overrides": "samuel.app",
    "SamuelError": "samuel.base.errors",
    "UnknownEvent": "samuel.base.errors",
    "UsageError": "samuel.base.errors",
    "hook": "samuel.hooks.decorator",
    "open": "samuel.app",
}

__all__ = [
    "App",
    "ConfigError",
    "Fired",
    "HandlerCall",
    "Machine",
    "Outcome",
    "Overrides",
    "SamuelError",
    "UnknownEvent",
    "UsageError",
    "__version__",
    "events",
    "hook",
    "open",
    "shell",
]


def __getattr__(name: str) -> Any:
    import importlib  # only for the first use of a name

    if name in ("events", "shell"):
        return importlib.import_module(f"samuel.{name}")
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module `samuel` has no attribute `{name}`")
