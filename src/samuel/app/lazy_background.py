"""Background calls of a project, set up when the first one is made: most projects have none."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from samuel.events import AfterLoop, Event

# Calls in the background are imported where they are used: most processes make none.
if TYPE_CHECKING:
    from samuel.app.project import App
    from samuel.background.calls import BackgroundCalls
    from samuel.background.wire import EndedCall
    from samuel.dispatch.background import BackgroundCall


class LazyBackground:
    """Makes calls in the background."""

    def __init__(self, create: Callable[[], BackgroundCalls]) -> None:
        self._create = create
        self._calls: BackgroundCalls | None = None
        self._lock = threading.Lock()

    def start(self, call: BackgroundCall) -> str:
        """Begin a call; "" or why it could not be begun."""
        with self._lock:
            if self._calls is None:
                self._calls = self._create()
        return self._calls.start(call)

    def ended(self) -> list[EndedCall]:
        """The calls that did not end well since the last time this was asked."""
        return self._calls.ended() if self._calls else []

    def under_way(self) -> list[str]:
        """The names of the handlers that are at work."""
        return self._calls.under_way() if self._calls else []

    def close(self) -> None:
        """Kill what must not go on when the project is closed."""
        if self._calls:
            self._calls.close()


def background_of(app: App, *, one_event: bool) -> LazyBackground:
    """Where the background handlers of a project run.

    Those of a run end with it, except for its last event. Any others go on until their own deadline: the
    process that fires only `one_event` has ended before them.
    """

    def outlives(event: Event) -> bool:
        in_run = app.pinned_run is not None or event.run_id is not UNSET
        return one_event or isinstance(event, AfterLoop) or not in_run

    def create() -> BackgroundCalls:
        from samuel.background.calls import BackgroundCalls
        from samuel.background.wire import SupervisorSetup

        setup = SupervisorSetup(
            root=str(app.paths.root),
            journal=str(app.paths.journal),
            parent_id=os.environ.get("SAMUEL_EVENT_ID", ""),
            environment=app.variables,
            cache=str(app.user.cache),
            limits=msgspec.structs.asdict(app.config.limits),
            state=str(app.user.state),
            trust_key=app.trust_key,
            trusts_everything=app.trust_stamp == "everything",
            outlives=False,
        )
        return BackgroundCalls(setup, outlives, lambda: app.runtimes["inline"], app.sink)

    return LazyBackground(create)
