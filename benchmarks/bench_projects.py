"""Projects, homes and dispatchers for the benchmarks, made in a scratch directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from samuel.base import paths
from samuel.base.clock import SystemClock
from samuel.config.model import EventSettings
from samuel.dispatch.dispatcher import Dispatcher, ProjectFields
from samuel.dispatch.record import Fired, HandlerCall
from samuel.events import EVENTS, Event
from samuel.hooks.handler import Handler, Origin
from samuel.hooks.order import resolve
from samuel.runtimes.inline import InlineRuntime
from samuel.trust.permit import PermitCheck


class NoSink:
    """A sink that keeps nothing: what the dispatcher costs by itself."""

    def begin(self, event: Event) -> None: ...

    def called(self, event: Event, call: HandlerCall) -> None: ...

    def end(self, event: Event, fired: Fired, duration_ms: float) -> None: ...


@contextmanager
def project(scratch: Path) -> Iterator[Path]:
    """A new project with a home of its own, so that no real hooks take part."""
    number = len(list(scratch.iterdir()))
    home = scratch / f"home-{number}"
    root = scratch / f"project-{number}"
    (root / ".samuel" / "hooks").mkdir(parents=True)
    home.mkdir()
    before = {name: os.environ.get(name) for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    os.environ.update(HOME=str(home), XDG_STATE_HOME=str(home / "state"), XDG_CACHE_HOME=str(home / "cache"))
    try:
        yield root
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def user() -> paths.User:
    return paths.User.from_environment()


def inline(event: str, name: str, function: Callable[..., Any]) -> Handler:
    return Handler(name=name, event=event, origin=Origin.EMBEDDER, runtime="inline", owner=name, function=function)


def dispatcher(root: Path, handlers: list[Handler], sink: Any = None) -> Dispatcher:
    """A dispatcher with these handlers and nothing else."""
    return Dispatcher(
        chains={event.name: resolve(event, handlers, EventSettings()) for event in EVENTS},
        runtimes={"inline": InlineRuntime()},
        permit=PermitCheck(lambda handler: ""),
        sink=sink or NoSink(),
        clock=SystemClock(),
        project=ProjectFields(str(root), "ralph", lambda owner: str(root / owner), 16 * 1024),
    )


def executable(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return path
