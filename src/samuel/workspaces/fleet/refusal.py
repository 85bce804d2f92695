"""Why a machine cannot do an attempt."""

from __future__ import annotations

from typing import Literal

from samuel.base.errors import SamuelError

RefusalCode = Literal[
    "protocol",
    "directory",
    "remote",
    "rules",
    "trust",
    "plugins",
    "agent",
    "sandbox",
    "identity",
    "disk",
    "guards",
    "error",
]


class MachineRefused(SamuelError):
    """The machine cannot do the attempt. It says nothing about the task, and costs no attempt."""

    def __init__(self, code: RefusalCode | str, message: str, hint: str = "", *, lasting: bool = True) -> None:
        super().__init__(message, hint)
        self.code = code
        self.lasting = lasting
        """False: it may work later."""
