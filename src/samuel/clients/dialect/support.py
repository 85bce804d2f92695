"""Whether a client honours what a handler may answer, by the client's facts and the handler's role."""

from __future__ import annotations

from typing import Protocol

from samuel.clients.dialect.client import Client
from samuel.clients.dialect.events import DENIABLE, POST, PRE, STOPS
from samuel.clients.dialect.limits import (
    ASK,
    CONTEXT,
    DENY,
    EVENT,
    FOLLOW_UP,
    HONOURED,
    LIMITED,
    LOST,
    OUTPUT,
    REWRITE,
    Limit,
)

GUARD = "guard"
_RANK = (HONOURED, LIMITED, LOST)


class DeclaredHandler(Protocol):
    """What a handler declares; `Handler` is one."""

    @property
    def name(self) -> str: ...

    @property
    def event(self) -> str: ...

    @property
    def role(self) -> str | None: ...

    @property
    def blocking(self) -> bool: ...


def support(client: Client, handler: DeclaredHandler, event: str = "") -> Limit:
    """What becomes of all that a handler may answer: the worst verdict, with the reasons of all that are as bad.

    `event` is for a handler whose own events are unknown. A handler without a role on PreAbilityCall may deny and
    may rewrite, so both must be honoured.
    """
    event = event or handler.event
    limits = [_limit(client, event, kind, handler) for kind in (EVENT, *_kinds(event, handler))]
    facts = [limit for limit in limits if limit is not None]
    verdict = max((limit.verdict for limit in facts), key=_RANK.index, default=HONOURED)
    reasons = dict.fromkeys(limit.why for limit in facts if limit.verdict == verdict)
    return Limit(verdict, "; ".join(reasons))


def _kinds(event: str, handler: DeclaredHandler) -> list[str]:
    """The kinds of results that the handler may give on the event."""
    role = handler.role
    kinds = []
    if event in DENIABLE and (handler.blocking or role in (GUARD, None)):
        kinds += [DENY, ASK]
    if event == PRE and role in (REWRITE, None):
        kinds.append(REWRITE)
    if event == POST and role in (REWRITE, None):
        kinds.append(OUTPUT)
    if event in STOPS and (handler.blocking or role in (GUARD, None)):
        kinds.append(FOLLOW_UP)
    return [*kinds, CONTEXT] if role is None else kinds


def _limit(client: Client, event: str, kind: str, handler: DeclaredHandler) -> Limit | None:
    if event not in client.events.values():
        return Limit(LOST, f"{client.title} does not report {event}")
    limit = client.limits.get((event, kind))
    if limit is None or limit.verdict != LOST or handler.role is not None:
        return limit
    if kind == REWRITE:
        return Limit(LOST, f"{limit.why}; if `{handler.name}` only denies, declare `role: guard`")
    # Without a role it is not known whether the handler gives such a result at all; it runs in any case.
    return limit if kind in (DENY, ASK) or handler.blocking else Limit(LIMITED, limit.why)
