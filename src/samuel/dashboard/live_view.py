"""A view that many browsers look at: its fragments, made again while there is a browser that looks.

However many browsers look, the files are read and the fragments are made once. A browser that is slow gets the
latest fragments when it has taken the last ones: nothing piles up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

SHORTEST = 0.4
"""Seconds between two looks."""
REST = 8
"""The next look comes after this many times as long as the last one took: a view must not keep a core busy."""

Fragments = Mapping[str, str]


class Subscription:
    """What one browser has not got yet, of all views that it looks at."""

    def __init__(self) -> None:
        self._pending: dict[tuple[str, str], str] = {}
        self._news = asyncio.Event()

    def offer(self, view: str, fragments: Fragments) -> None:
        self._pending |= {(view, name): text for name, text in fragments.items()}
        if fragments:
            self._news.set()

    async def next(self, seconds: float) -> dict[tuple[str, str], str]:
        """What is new, by view and name; nothing if that is so for this long."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return {}
        self._news.clear()
        pending, self._pending = self._pending, {}
        return pending


class LiveView:
    def __init__(self, name: str, render: Callable[[], Fragments]) -> None:
        """`render` is called in another thread, one call at a time."""
        self.name = name
        self._render = render
        self._fragments: Fragments = {}
        self._one_at_a_time = asyncio.Lock()
        self._next = 0.0
        self._subscriptions: set[Subscription] = set()
        self._looking: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    async def fragments(self) -> Fragments:
        """The fragments as they are now."""
        async with self._one_at_a_time:
            if time.monotonic() < self._next:
                return self._fragments
            begun = time.monotonic()
            fragments = await asyncio.to_thread(self._render)
            ended = time.monotonic()
            self._next = ended + max(SHORTEST, REST * (ended - begun))
            changed = {name: text for name, text in fragments.items() if self._fragments.get(name) != text}
            self._fragments = fragments
            for subscription in self._subscriptions:
                subscription.offer(self.name, changed)
            return fragments

    def hurry(self) -> None:
        """Look again at once: something was changed from here."""
        self._next = 0.0
        self._hurry.set()

    async def join(self, subscription: Subscription) -> None:
        """From now on the subscription gets what changes, and first all there is."""
        self._subscriptions.add(subscription)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        subscription.offer(self.name, await self.fragments())

    def leave(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)
        if not self._subscriptions and self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look(self) -> None:
        while True:
            await self.fragments()
            self._hurry.clear()
            try:
                await asyncio.wait_for(self._hurry.wait(), max(self._next - time.monotonic(), SHORTEST / 4))
            except TimeoutError:
                continue
