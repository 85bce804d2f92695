"""Where a call of `samuel emit` is answered: in a process of its own, or by the server."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from samuel.base.clock import SystemClock
from samuel.base.decoding import decode_json
from samuel.base.paths import CANARIES, User
from samuel.base.printable import safe
from samuel.emit.call import STDERR, EmitAnswer, EmitArguments
from samuel.trust.repository import trusted_around

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.base.errors import SamuelError
    from samuel.dispatch.record import Fired
    from samuel.events import Event
    from samuel.hooks.handler import Handler
    from samuel.journal import EventRecord


ReadStdin = Callable[[], bytes]
"""Reads the whole of stdin. Called where an interrupt is answered too: the caller may never write."""


class EmitHost(msgspec.Struct, frozen=True):
    """What a call needs of the process that answers it."""

    root: Callable[[], Path]
    """Finds the root of the project; UsageError where the working directory is gone."""
    opened: Callable[[EmitArguments], AbstractContextManager[App]]
    """The opened project. Its `ask` leaves questions to a client if the event is a client's."""
    firing: Callable[[App, Event, EmitAnswer], None]
    """Called right before the handlers, with the answer in case this process does not live to give one."""
    confirm: Callable[[str], bool] | None = None
    """Asks the person a yes-or-no question; None where no person can be asked."""
    indented: bool = False
    """Whether a person reads the result on a terminal."""


def leave_to_client(question: str) -> None:
    """The `ask` of a project that is opened for a client: the client asks, if it can."""


def proof_guards(user: User) -> tuple[Handler, ...]:
    """The guard of a proof that is under way, which judges calls as any guard of the user's; () without one."""
    if not os.path.lexists(user.state / CANARIES):
        return ()
    from samuel.proving.canary import guards  # few calls are made during a proof

    return tuple(guards(user.state, SystemClock().now()))


def roots_of(root: Path, logical: str) -> tuple[str, ...]:
    """The root of a project and of those around it whose guards are asked, too; `logical` is the caller's PWD."""
    return str(root), *trusted_around(str(root), str(User.from_environment().state), logical)


def fire(app: App, event: Event, confirm: Callable[[str], bool] | None) -> tuple[Fired, list[str]]:
    """Fire an event, in its session if it has one; with a line for each follow-up action that hooks propose.

    Of a dry run nothing is stored in the session.
    """
    if not isinstance(event.session_id, str) or event.dry_run:
        return app.fire(event), []
    from samuel.sessions.follow_up import describe  # with the sessions room, which most events do without

    recorded = app.session_recorder(confirm).fire(event.session_id, event)
    return recorded.fired, [describe(action) for action in recorded.follow_ups]


def warnings_of(app: App, fired: Fired) -> list[str]:
    return [*fired.warnings, *app.unasked_hooks(fired), *app.warnings]


def payload_extra(record: EventRecord) -> Mapping[str, Any]:
    """The fields of a recorded event that are not its own; {} where they cannot be read."""
    try:
        extra = decode_json(bytes(record.payload), dict[str, Any]).get("extra")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    return extra if isinstance(extra, dict) else {}


def lines(stream: int, *texts: str) -> tuple[tuple[int, str], ...]:
    """Each text on lines of its own, with nothing in it that a terminal would act on."""
    return tuple((stream, f"{safe(text)}\n") for text in texts)


def failed(error: SamuelError, failure: int | None) -> EmitAnswer:
    """The answer where the event could not be fired."""
    code = error.exit_code if failure is None else failure
    return EmitAnswer(code, lines(STDERR, f"error: {error}"), failure)
