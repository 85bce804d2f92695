"""Whether a caller has the environment variables that this process has: hooks would see them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from samuel.process.containers.engine import CLIENT_VARIABLES
from samuel.process.ledger import MARK
from samuel.process.shim import STEERING
from samuel.serve.place import deciding_variables

if TYPE_CHECKING:
    from samuel.app import App


class OwnVariables:
    """The variables that this process has from the caller who started it, as far as a project uses them."""

    def __init__(self, app: App) -> None:
        granted = {name for handler in app.handlers if handler.package for name in handler.package.grants.env}
        self._names = tuple(map(os.fsencode, (*app.config.pass_env, *granted, *CLIENT_VARIABLES, *STEERING)))
        self._own = dict(os.environb)
        self._deciding = _comparable(self._own)
        self._same = b""  # those of the last caller who agreed: the next one usually has the very same

    def objection(self, variables: bytes) -> str:
        """Why a caller with these variables (`NAME=value`, with NUL between them) is not answered; "" if it is."""
        if variables == self._same:
            return ""
        theirs = dict(variable.partition(b"=")[::2] for variable in variables.split(b"\0"))
        for name in self._names:
            if theirs.get(name) != self._own.get(name):
                return f"the client has another `{os.fsdecode(name)}` than the server"
        # The name of the socket stands for these; it is short, so they are compared as well.
        if _comparable(theirs) != self._deciding:
            return "the client has other variables that hooks see than the server"
        self._same = variables
        return ""


def _comparable(variables: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """What can change an answer. The mark of a call does not: it only tells whose process this is."""
    deciding = deciding_variables(variables)
    deciding.pop(MARK.encode(), None)
    return deciding
