"""A handler of an event, with everything that is needed to order it, to permit it and to run it."""

# Annotations are not postponed here: msgspec would evaluate the text of each when a type is first used.

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.events import EventType
from samuel.events.compose import Arrange
from samuel.hooks.capability import NOTHING, Capabilities

BUILT_IN_ORDER = 100
DEFAULT_ORDER = 200
BACKGROUND_HINT = "leave `background` out"


class HandlerMode(StrEnum):
    """`enforce` is the default. What an observed handler returns is recorded, and nothing of it is used."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


def observation_refusal(event: EventType) -> str:
    """Why a handler of `event` cannot be observed; "" if it can."""
    if event.composition.arrange is Arrange.LAST_ONLY:
        return f"only one handler answers `{event.name}`, so its answer cannot be left unused"
    return ""


def declared_mode(value: object, event: EventType) -> HandlerMode:
    """The mode that a handler of `event` declares; ValueError completes a sentence: "`mode` " + str(error)."""
    from samuel.config import kinds  # what checks settings, when hooks are discovered

    mode = HandlerMode(kinds.one_of(*HandlerMode)(value))
    if mode is HandlerMode.OBSERVE and (why := observation_refusal(event)):
        raise ValueError(f"cannot be `observe`: {why}")
    return mode


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """An installed plugin, as its handlers need it."""

    name: str  # the manifest's, or org/repo
    directory: str  # where it is installed
    kind: str  # skill, python, wasm, oci or meta
    version: str = ""
    has_manifest: bool = True  # without one its capabilities are its own files and `plugin add --grant`
    grants: Capabilities = NOTHING
    agreement: str = ""  # the trust store's name for its content: plugin:org@repo
    agreed_text: str = ""  # what the user agreed to in addition to the content
    linked: bool = False  # a directory in development: its content may change between runs
    image: str = ""  # oci: an image id or a reference with a digest, never a tag
    serve: bool = False  # oci: one running container that replies to JSON lines
    python: str = ""  # python: the interpreter of its own environment; "" for Samuel's


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
        """The origin as text, like `project plugin`."""
        return self.name.lower().replace("_", " ")


class Role(StrEnum):
    """What a handler of PreAbilityCall does. A handler without a role is called in both phases."""

    REWRITE = "rewrite"
    GUARD = "guard"
    OBSERVE = "observe"


class Outcome(StrEnum):
    """How one call of a handler ended."""

    OK = "ok"
    DENIED = "denied"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    BAD_OUTPUT = "bad_output"
    NOT_STARTED = "not_started"
    REFUSED = "refused"


class HandlerStatus(StrEnum):
    """Whether a handler that was found can run."""

    ACTIVE = "active"
    BROKEN = "broken"
    SHADOWED = "shadowed"
    DISABLED = "disabled"
    UNTRUSTED = "untrusted"


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """One handler for one event. `event` is "" while the file may not be asked, or cannot be, for its events."""

    name: str
    event: str
    origin: Origin
    runtime: str  # a key of the table of runtimes
    owner: str = ""  # the plugin, file or distribution it came with; its key in samuel.toml and in the context
    path: str = ""  # the file that is run, if there is one; a bare name is looked up on PATH
    arguments: tuple[str, ...] = ()  # the command line arguments it is started with
    env: dict[str, str] = {}  # variables that its process gets in addition to those of all hooks
    file: str = ""  # the name of the agreement to what declares it: the YAML file, or an agent's hooks in a file
    runs: tuple[str, ...] = ()  # the files of the project that its command runs, which must be trusted too
    digest: str = ""  # of its content, or of what declares it
    function: Any = None  # the callable, for a handler that runs in this process
    module: str = ""  # the module to import, for an installed distribution
    entry: str = ""  # what to call in it: a function's name, a subcommand
    dialect: str = ""  # the protocol it uses, a key of DIALECTS, or of HOOK_FORMATS; "" is Samuel's own
    client_event: str = ""  # the agent's name of the event, for a hook that was written for an agent
    left_to: str = ""  # the agent that runs it itself: for events of that agent it is not called
    order: int | None = None  # None: the default
    strict: bool | None = None
    timeout: float | None = None
    serial: bool = False  # it never runs in two lanes at once
    background: bool = False  # its answer is not awaited
    role: Role | None = None
    can_declare_role: bool = False  # it was read without running anything: without a role it is no guard
    mode: HandlerMode = HandlerMode.ENFORCE
    blocking: bool = False  # its faults deny, whatever samuel.toml sets for the event
    match: dict[str, Any] = {}  # filters on the event's fields; {}: it is called for every event
    config: dict[str, Any] = {}
    package: Package | None = None  # the plugin it belongs to; None: it has no capabilities to check
    declared: int = 0  # its position in the file that declares it
    hookless: bool = False  # it handles no event and is only listed: a plugin with skills and no hooks
    status: HandlerStatus = HandlerStatus.ACTIVE
    reason: str = ""  # why it is not active, and what to do about it

    @property
    def key(self) -> str:
        """The name of its namespace in the context, and of its data_dir."""
        return self.owner or self.name

    @property
    def reference(self) -> str:
        """A plugin's handler as samuel.toml may name it: `plugin:hook`."""
        return f"{self.owner}:{self.name.removeprefix(self.owner + '/')}"

    @property
    def effective_order(self) -> int:
        """Its order number, or the default for its origin."""
        if self.order is not None:
            return self.order
        return BUILT_IN_ORDER if self.origin is Origin.BUILT_IN else DEFAULT_ORDER


def background_refusal(
    event: EventType, role: Role | None = None, *, blocking: bool = False, strict: bool | None = None
) -> str:
    """Why a handler with these settings cannot run in the background on `event`; "" if it can."""
    if event.answer_counts:
        return f"the answer to `{event.name}` counts, so its handlers cannot run in the background"
    if role is Role.GUARD or blocking:
        return "a guard is waited for, so it cannot run in the background"
    if role is Role.REWRITE:
        return "what a handler with the role `rewrite` returns counts, so it cannot run in the background"
    if strict:
        return "a strict handler is waited for, so it cannot run in the background"
    return ""


def unavailable(name: str, origin: Origin, status: HandlerStatus, reason: str, **fields: Any) -> Handler:
    """A handler that cannot run, in the place of what could not be asked. Without an `event`, that may be any."""
    return Handler(
        **{"name": name, "event": "", "runtime": "exec", "owner": name, **fields},
        origin=origin,
        status=status,
        reason=reason,
    )


def with_status(handlers: Iterable[Handler], status: HandlerStatus, reason: str) -> list[Handler]:
    return [replace(handler, status=status, reason=reason) for handler in handlers]
