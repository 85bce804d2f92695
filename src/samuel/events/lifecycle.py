"""Payloads and results of `samuel init` and `samuel sync`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from samuel.events import names
from samuel.events.event import Event, field


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result that most events accept. A missing `ok` means true."""

    ok: Annotated[bool, field("False: this handler failed.")] = True
    reason: Annotated[str | None, field("Why it failed.")] = None
    data: Annotated[
        dict[str, Any] | None,
        field("Merged into `context.Plugins[<own name>]` for later handlers and the prompt."),
    ] = None


class SyncVerdict(Verdict, frozen=True, kw_only=True):
    """The result of `sync.before`."""

    skip: Annotated[bool, field("True: do not sync this time.")] = False


class InitBefore(Event, frozen=True, kw_only=True, tag=names.INIT_BEFORE):
    """Fired by `samuel init` before anything is written."""

    force: Annotated[bool, field("Existing files may be overwritten.")] = False
    minimal: Annotated[bool, field("Only samuel.toml is written.")] = False


class InitAfter(Event, frozen=True, kw_only=True, tag=names.INIT_AFTER):
    """Fired by `samuel init` when the project is set up."""

    plugins_installed: Annotated[list[str], field("Names of the plugins that are installed in the project.")] = (
        msgspec.field(default_factory=list)
    )


class SyncBefore(Event, frozen=True, kw_only=True, tag=names.SYNC_BEFORE):
    """Fired by `samuel sync` before anything is written."""


class SyncAfter(Event, frozen=True, kw_only=True, tag=names.SYNC_AFTER):
    """Fired by `samuel sync` when it is done."""

    files_written: Annotated[list[str], field("Paths relative to the project.")] = msgspec.field(
        default_factory=list
    )
