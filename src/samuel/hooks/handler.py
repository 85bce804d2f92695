"""Who answers: one handler, as it was found, with everything needed to order it, permit it and run it."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

import msgspec

from samuel.hooks.package import Package

BUILT_IN_ORDER = 100
DEFAULT_ORDER = 200


class Origin(IntEnum):
    """Where a handler was found. A higher value is nearer to the project and has the last word."""

    BUILT_IN = 0
    DISTRIBUTION = 1
    USER_PLUGIN = 2
    USER = 3
    PROJECT_PLUGIN = 4
    PROJECT = 5
    EMBEDDER = 6

    @property
    def label(self) -> str:
        return self.name.lower().replace("_", " ")


class Role(StrEnum):
    """What a handler of a call's input is for. Without one it is called in both phases."""

    REWRITE = "rewrite"
    GUARD = "guard"
    OBSERVE = "observe"


class Outcome(StrEnum):
    """How one call of a handler ended. Exactly one of these comes of it."""

    OK = "ok"
    DENIED = "denied"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    BAD_OUTPUT = "bad_output"
    NOT_STARTED = "not_started"
    REFUSED = "refused"


class HandlerStatus(StrEnum):
    """What became of a handler that was found."""

    ACTIVE = "active"
    BROKEN = "broken"
    SHADOWED = "shadowed"
    DISABLED = "disabled"
    UNTRUSTED = "untrusted"


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """One handler for one event. `event` is empty while nobody may ask the file which event it is for."""

    name: str
    event: str
    origin: Origin
    runtime: str  # a key of the table of runtimes
    owner: str = ""  # the plugin, file or distribution it came with; its key in samuel.toml and in the context
    path: str = ""  # the file, for those that are one; a bare name is a program of the user's
    arguments: tuple[str, ...] = ()  # what it is started with
    file: str = ""  # where it is declared, for those that a file of their own describes
    runs: tuple[str, ...] = ()  # for these: the files of the project that are run, which must be as agreed too
    digest: str = ""  # of its content; of the file that declares it
    function: Any = None  # the callable, for those that run in this process
    module: str = ""  # what to import, for those that are installed
    entry: str = ""  # what to call in it: a function's name, a subcommand
    dialect: str = ""  # the protocol it speaks; "" is Samuel's own
    order: int | None = None  # None: nobody gave one
    strict: bool | None = None
    timeout: float | None = None
    role: Role | None = None
    blocking: bool = False  # a fault of it denies, whatever samuel.toml says of its event
    match: dict[str, Any] = {}  # which of the events it wants to see; nothing: all of them
    config: dict[str, Any] = {}
    package: Package | None = None  # the plugin it belongs to; None: nobody limits what it may do
    declared: int = 0  # its position among those declared together
    hookless: bool = False  # it answers to no event, and is only listed: a plugin with skills and no hooks
    status: HandlerStatus = HandlerStatus.ACTIVE
    reason: str = ""  # why it is not active, and what to do about it

    @property
    def key(self) -> str:
        """The name its `data` and its data_dir go under."""
        return self.owner or self.name

    @property
    def reference(self) -> str:
        """A plugin's handler as `plugin:hook`, whatever its runtime calls."""
        return f"{self.owner}:{self.name.removeprefix(self.owner + '/')}"

    @property
    def effective_order(self) -> int:
        if self.order is not None:
            return self.order
        return BUILT_IN_ORDER if self.origin is Origin.BUILT_IN else DEFAULT_ORDER
