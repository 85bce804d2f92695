"""The options that the session commands share."""

from __future__ import annotations

import os
from typing import get_args

import click

from samuel.cli.here import Here
from samuel.errors import SamuelError
from samuel.events.event import Stage
from samuel.sessions.session import Hints, Session, hints
from samuel.sessions.store import SessionStore

VARIABLE = "SAMUEL_SESSION_ID"

id_option = click.option("--id", "id", metavar="ID", default="", help="The session; the latest open one without.")
env_option = click.option("--env", "environment", metavar="NAME", default="", help="The environment: dev, prod, …")
stage_option = click.option("--stage", type=click.Choice(get_args(Stage)), help="Where the work stands.")
session_option = click.option("--session", metavar="ID", default="", help="The session it belongs to.")


def chosen(here: Here, id: str) -> Session:
    """One that goes on."""
    session = SessionStore(here.root).named(id or os.environ.get(VARIABLE, ""))
    if session.ended:
        raise SamuelError(f"the session `{session.id}` has ended", "`samuel session start` begins another")
    return session


def chosen_or_last(here: Here, id: str) -> Session:
    """Also one that has ended, if it is the last there was."""
    store = SessionStore(here.root)
    if id := id or os.environ.get(VARIABLE, ""):
        return store.named(id)
    if not (found := store.all()):
        raise SamuelError("there has been no session yet", "`samuel session start` begins one")
    return max(found, key=lambda session: session.started)


def hints_of(here: Here, id: str) -> Hints:
    """What the hooks of a session suggest; nothing outside of one."""
    if id:
        return hints(SessionStore(here.root).named(id))
    # One that this process was started in may have had nothing to keep.
    session = SessionStore(here.root).load(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None
    return hints(session) if session else Hints()
