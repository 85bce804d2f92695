"""One hook that was written for an agent, and the file with such hooks, as they are read and cached."""

from __future__ import annotations

from typing import Any

import msgspec

from samuel.base.errors import Problem

AGREEMENT = "hooks:"  # begins the names under which the hooks in files are trusted


class ClientHook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One hook of an agent, for one event."""

    name: str  # `claude/guard`
    client: str  # the agent, a key of HOOK_FORMATS
    client_event: str  # the agent's name of the event
    event: str = ""  # Samuel's name of it; "" if Samuel has no such event
    command: str = ""  # for people and for `hooks import`
    words: tuple[str, ...] = ()  # the program and its arguments
    program: str = ""  # the file of the project that it starts, if it does
    runs: tuple[str, ...] = ()  # the files of the project that it runs
    env: dict[str, str] = {}
    match: dict[str, Any] = {}
    matcher: str = ""  # as in the file
    timeout: float | None = None  # seconds
    blocking: bool = False
    background: bool = False  # its answer is not awaited
    left_out: str = ""  # why it is not run by Samuel, if it is not


class ClientHookFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file: its hooks, or its problems. A file that does not exist has none of both."""

    file: str  # relative to the project or to the home directory
    path: str
    client: str
    text: str = ""  # what the user agrees to: the hooks in it, as JSON; "" if there is none
    digest: str = ""  # of the text
    hooks: tuple[ClientHook, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def agreement(self) -> str:
        """The name under which the hooks in the file are trusted. Other settings in it do not matter."""
        return f"{AGREEMENT}{self.file}"
