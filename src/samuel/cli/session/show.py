from __future__ import annotations

import os

import click
import msgspec

from samuel.cli.here import Here, json_option
from samuel.cli.output import Table
from samuel.cli.session.options import VARIABLE, id_option
from samuel.cli.session.words import hints
from samuel.errors import SamuelError
from samuel.sessions.follow_up import described
from samuel.sessions.session import Session
from samuel.sessions.store import SessionStore


@click.command()
@id_option
@json_option
@click.pass_obj
def show(here: Here, id: str) -> int:
    """Show what a session has gathered.

    \b
        samuel session show --json
    """
    session = _chosen(SessionStore(here.root), id or os.environ.get(VARIABLE, ""))
    data = msgspec.to_builtins(session)
    data.pop("tree", None)  # how we tell what changed, and nobody's reading
    data["state"] = session.state
    blocks: list[str | Table] = [f"session `{session.id}`, {session.state}, began {session.started}"]
    blocks += [*hints(session), *map(described, session.follow_ups)]
    if session.messages:
        rows = [(one.at, one.event, one.text) for one in session.messages]
        blocks.append(Table(("time", "event", "message"), rows))
    return here.out.answer(data, *blocks)


def _chosen(store: SessionStore, id: str) -> Session:
    """Also one that has ended, if it is the last there was."""
    if id:
        return store.named(id)
    found = [session for one in store.ids() if (session := store.load(one))]
    if not found:
        raise SamuelError("there has been no session yet", "`samuel session start` begins one")
    return max(found, key=lambda session: session.started)
