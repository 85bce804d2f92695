"""Server-sent events: the fragments of views that changed. One connection serves all pages of a browser.

Browsers open six connections to a host at most, so pages share one; the names of the views are in its address.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from samuel.dashboard.live_view import LiveView, Subscription

BEAT = 10.0
"""Seconds after which an event without news says that the connection is there."""
RETRY = 1000
"""Milliseconds after which a browser connects again."""


async def event_stream(
    views: Sequence[LiveView], version: str, is_closing: Callable[[], bool]
) -> AsyncIterator[bytes]:
    """All fragments of the views, and then those that change."""
    subscription = Subscription()
    try:
        yield f"retry: {RETRY}\n".encode() + _event("hello", {"version": version})
        for view in views:
            await view.join(subscription)
        while not is_closing():
            fragments = await subscription.next(BEAT)
            for (view_name, name), html in fragments.items():
                yield _event("fragment", {"view": view_name, "name": name, "html": str(html)})
            if not fragments:
                yield _event("beat", {})
    finally:
        for view in views:
            view.leave(subscription)


def _event(name: str, data: dict[str, str]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
