"""The options that the session commands share."""

from __future__ import annotations

import os

import click

from samuel.cli.here import Here
from samuel.sessions.session import Hints, Session, hints
from samuel.sessions.store import SessionStore

VARIABLE = "SAMUEL_SESSION_ID"

id_option = click.option("--id", "id", metavar="ID", default="", help="The session; the latest open one without.")
env_option = click.option("--env", "environment", metavar="NAME", default="", help="The environment: dev, prod, …")
stage_option = click.option(
    "--stage", type=click.Choice(["understand", "plan", "act", "review"]), help="Where the work stands."
)
session_option = click.option("--session", metavar="ID", default="", help="The session it belongs to.")


def chosen(here: Here, id: str) -> Session:
    return SessionStore(here.root).named(id or os.environ.get(VARIABLE, ""))


def hints_of(here: Here, id: str) -> Hints:
    """What the hooks of a session suggest; nothing outside of one."""
    if id:
        return hints(SessionStore(here.root).named(id))
    # One that this process was started in may have had nothing to keep.
    session = SessionStore(here.root).load(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None
    return hints(session) if session else Hints()
