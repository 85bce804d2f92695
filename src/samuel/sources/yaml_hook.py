"""What one `.system/hooks/*.yaml` says: the record that is kept, so that a known file need not be read again."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.hooks.handler import Role

SCRIPT, PYTHON, BUILTIN = "script", "python", "builtin"


class YamlHook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    events: tuple[str, ...]
    spelled: tuple[str, ...]  # the events as the file spells them
    kind: str
    command: str  # what it runs, in one line: a command, `file.py:function` or a built-in's name
    words: tuple[str, ...] = ()  # script: the program and its arguments
    shell: bool = False
    file: str = ""  # python: a file of the project
    module: str = ""  # python: or something to import
    function: str = ""
    enabled: bool = True
    environments: tuple[str, ...] = ()  # those it takes part in; all, if there are none
    blocking: bool = False
    role: Role | None = None
    order: int | None = None
    timeout: float | None = None
    match: dict[str, Any] = {}
    config: dict[str, Any] = {}  # what it is told: `plugin.config` of its events
    summary: str = ""

    def idle(self, environment: str, file: str) -> str:
        """Why it does not take part; "" if it does."""
        if not self.enabled:
            return f"`enabled: false` in {file}; `samuel hooks enable {self.id}` turns it on"
        return self.elsewhere(environment)

    def elsewhere(self, environment: str) -> str:
        """Why it is not for this environment; "" if it is."""
        if not self.environments or environment in self.environments:
            return ""
        here = f"this is `{environment}`" if environment else "no environment is set"
        how = "`--env`, SAMUEL_ENV or `environment` in samuel.toml says which it is"
        return f"it is for {' and '.join(f'`{one}`' for one in self.environments)}, and {here}; {how}"
