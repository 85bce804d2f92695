"""The options that the session commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from samuel.cli.here import Here
from samuel.sessions.session import Session
from samuel.sessions.store import SessionStore

F = TypeVar("F", bound=Callable[..., Any])

VARIABLE = "SAMUEL_SESSION_ID"

id_option = click.option("--id", "id", metavar="ID", default="", help="The session; the latest open one without.")
env_option = click.option("--env", "environment", metavar="NAME", default="", help="The environment: dev, prod, …")
stage_option = click.option(
    "--stage", type=click.Choice(["understand", "plan", "act", "review"]), help="Where the work stands."
)


def chosen(here: Here, id: str) -> Session:
    return SessionStore(here.root).named(id or os.environ.get(VARIABLE, ""))
