"""Whether a caller has the environment variables that this process has: hooks would see them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from samuel.confine.containers.engine import CLIENT_VARIABLES
from samuel.emit.serve.socket_name import deciding_variables
from samuel.process.ledger import MARK
from samuel.process.passed import is_pinned
from samuel.process.shim import STEERING

if TYPE_CHECKING:
    from samuel.app import App


class OwnVariables:
    """The variables that this process has from the caller who started it, as far as a project uses them."""

    def __init__(self, apps: Sequence[App], *, of_run: bool = False) -> None:
        """`apps` are the project and those around it whose guards are asked, too.

        `of_run`: what a run pins is not compared, since hooks have it from the run also without a server.
        """
        self._own = dict(os.environb)
        self._run_names = {os.fsdecode(name) for name in _deciding(self._own)} if of_run else None
        handlers = [handler for app in apps for handler in app.handlers]
        granted = {name for handler in handlers if handler.package for name in handler.package.grants.env}
        passed = {name for app in apps for name in app.config.pass_env}
        names = map(os.fsencode, (*passed, *granted, *CLIENT_VARIABLES, *STEERING))
        self._names = tuple(name for name in names if self._is_compared(name))
        self._own_deciding = self._compared(self._own)
        self._same = b""  # those of the last caller who agreed: the next one usually has the very same

    def objection(self, variables: bytes) -> str:
        """Why a caller with these variables (`NAME=value`, with NUL between them) is not answered; "" if it is."""
        if variables == self._same:
            return ""
        theirs = _read_as_python_does(variables)
        for name in self._names:
            if theirs.get(name) != self._own.get(name):
                return f"the client has another `{os.fsdecode(name)}` than the server"
        # The name of the socket stands for these; it is short, so they are compared as well.
        if self._compared(theirs) != self._own_deciding:
            return "the client has other variables that hooks see than the server"
        self._same = variables
        return ""

    def _compared(self, variables: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        return {name: value for name, value in _deciding(variables).items() if self._is_compared(name)}

    def _is_compared(self, name: bytes) -> bool:
        return self._run_names is None or not is_pinned(os.fsdecode(name), self._run_names)


def _read_as_python_does(variables: bytes) -> dict[bytes, bytes]:
    """The caller's variables as a process of its own has them: of two with the same name, the first one counts."""
    return dict(variable.split(b"=", 1) for variable in reversed(variables.split(b"\0")) if b"=" in variable)


def _deciding(variables: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """What can change an answer. The mark of a call does not: it only tells whose process this is."""
    deciding = deciding_variables(variables)
    deciding.pop(MARK.encode(), None)
    return deciding
