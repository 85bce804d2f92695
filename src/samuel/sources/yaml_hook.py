"""What one `.system/hooks/*.yaml` says: the record that is kept, so that a known file need not be read again."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.hooks.handler import Role
from samuel.rules.table import SHIPPED

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

    @property
    def part(self) -> Role | None:
        """Its role: what the file says, or what is known of a hook that comes with Samuel."""
        shipped = SHIPPED.get(self.command) if self.kind == BUILTIN else None
        return self.role or (Role.OBSERVE if shipped and shipped.suggests else None)

    def switched_off(self, file: str) -> str:
        """Why it takes part nowhere; "" if it does somewhere."""
        if not self.enabled:
            return f"`enabled: false` in {file}; `samuel hooks enable {self.id}` turns it on"
        return self.unset(file)

    def unset(self, file: str) -> str:
        """What a hook that comes with Samuel must be told first; "" if it has something to do."""
        needs = SHIPPED[self.command].needs if self.kind == BUILTIN and self.command in SHIPPED else ""
        if not needs or self.config.get(needs):
            return ""
        return f"it has nothing to do: `{needs}` below `config` in {file} is empty"
