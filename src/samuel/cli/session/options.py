"""The options that the session commands share."""

from __future__ import annotations

import os
from typing import get_args

import click

from samuel.base.errors import SamuelError
from samuel.cli.command_context import CommandContext
from samuel.events.event import Stage
from samuel.sessions.session import Session
from samuel.sessions.store import SessionStore

VARIABLE = "SAMUEL_SESSION_ID"

id_option = click.option(
    "--id", "id", metavar="ID", default="", help="The session; the latest open one by default."
)
stage_option = click.option("--stage", type=click.Choice(get_args(Stage)), help="The stage of the work.")
session_option = click.option("--session", metavar="ID", default="", help="The session that this belongs to.")


def chosen(here: CommandContext, id: str) -> Session:
    """The open session with this id, or the current one."""
    session = SessionStore(here.root).named(id or os.environ.get(VARIABLE, ""))
    if session.ended:
        raise SamuelError(f"the session `{session.id}` has ended", "`samuel session start` starts another")
    return session


def chosen_or_last(here: CommandContext, id: str) -> Session:
    """The session with this id, or the current one, or the last one even if it has ended."""
    store = SessionStore(here.root)
    if id := id or os.environ.get(VARIABLE, ""):
        return store.named(id)
    if not (sessions := store.all()):
        raise SamuelError("there has been no session yet", "`samuel session start` starts one")
    return max(sessions, key=lambda session: session.started)


def session_of(here: CommandContext, id: str) -> Session:
    """The session whose suggestions count in routing; an empty one outside of any session."""
    if id:
        return SessionStore(here.root).named(id)
    # The session that this process was started in may have nothing stored.
    within = os.environ.get(VARIABLE, "")
    return (SessionStore(here.root).load(within) if within else None) or Session(within, "")
