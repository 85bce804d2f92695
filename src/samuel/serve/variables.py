"""The environment variables that only some projects look at, beside those in the name of the socket."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from samuel.process.containers.engine import CLIENT_VARIABLES
from samuel.process.shim import STEERING
from samuel.serve.place import decides

if TYPE_CHECKING:
    from samuel.app import App


def other_variables(app: App, variables: Sequence[bytes]) -> str:
    """Why a caller with these variables (`NAME=value`) is not answered by this process; "" if it is.

    This process has the environment of the caller that started it. Another caller must agree in all that counts.
    """
    theirs = dict(variable.partition(b"=")[::2] for variable in variables)
    granted = {name for handler in app.handlers if handler.package for name in handler.package.grants.env}
    for text in (*app.config.pass_env, *granted, *CLIENT_VARIABLES, *STEERING):
        name = os.fsencode(text)
        if theirs.get(name) != os.environb.get(name):
            return f"the client has another `{text}` than the server"
    return _other_deciding_variable(theirs)


def _other_deciding_variable(theirs: dict[bytes, bytes]) -> str:
    """The name of the socket stands for these; it is short, so they are compared as well."""
    for name in {*filter(decides, theirs), *filter(decides, os.environb)}:
        if theirs.get(name) != os.environb.get(name):
            return f"the client has another `{os.fsdecode(name)}` than the server"
    return ""
