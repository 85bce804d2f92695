"""The hook that one `.system/hooks/*.yaml` declares, as it is cached."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.base.printable import shell_word
from samuel.hooks.handler import Role
from samuel.hooks.mode import HandlerMode

SCRIPT, PYTHON, BUILTIN = "script", "python", "builtin"


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
