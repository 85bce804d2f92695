"""A call of a background handler, and what makes it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from samuel.dispatch.event_run import validated
from samuel.dispatch.handler_state import HandlerState, RuntimeCall, one_at_a_time
from samuel.dispatch.record import HandlerCall
from samuel.events import Event
from samuel.events.catalogue import BY_PAYLOAD
from samuel.hooks.handler import Handler, Outcome
from samuel.runtimes.base import Reply
from samuel.trust.content import NO_CONTENT, TrustedContent
from samuel.trust.permit import PermitCheck


class BackgroundCall(msgspec.Struct, frozen=True):
    """A handler that is permitted to run, with the payload that it gets."""

    handler: Handler
    event: Event
    position: int  # in the resolved chain, from 1
    timeout: float
    serial: bool = False  # it never runs in two lanes at once
    stamp: str = ""  # of its files, from before it was permitted
    content: TrustedContent = NO_CONTENT  # what it was permitted with

    def ended(self, reply: Reply, duration_ms: float) -> HandlerCall:
        """The record of the call: what it returned is checked as ever, and not used."""
        kind = BY_PAYLOAD[type(self.event)]
        if reply.outcome is Outcome.OK and reply.result:
            reply = validated(kind, reply)
        return HandlerCall(
            self.handler,
            self.position,
            reply.outcome,
            duration_ms,
            strict=False,
            result=reply.result,
            message=reply.message,
            stderr=reply.stderr,
            background=True,
        )


def make(call: BackgroundCall, run: RuntimeCall, state: HandlerState) -> Reply:
    """Make a call by `run`. A serial one waits for others of its handler, at most as long as its timeout."""
    if call.serial:
        run = one_at_a_time(run, state, wait=call.timeout)
    return run(call.handler, call.event, call.timeout)


class Background(Protocol):
    """Makes calls in the background."""

    def start(self, call: BackgroundCall) -> str:
        """Begin a call; "" or why it could not be begun. How it ends is recorded when it has."""


def begin(call: BackgroundCall, background: Background, permit: PermitCheck) -> HandlerCall | None:
    """Begin a call; the record of one that may not run, or cannot be started."""
    handler, why, outcome = call.handler, "", Outcome.REFUSED
    if handler.function is None:
        stamp = repr(permit.stamp(handler))
        if not (why := permit.refusal(handler)):
            call = replace(call, stamp=stamp, content=permit.content(handler))
    if not why:
        why, outcome = background.start(call), Outcome.NOT_STARTED
    return HandlerCall(handler, call.position, outcome, 0.0, strict=False, message=why) if why else None


class HandlerHost(NamedTuple):
    """What a project keeps about its handlers, and where background handlers run."""

    state: HandlerState | None = None
    background: Background | None = None


NO_HOST = HandlerHost()
