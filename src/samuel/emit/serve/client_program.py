"""The program `samuel-emit` of an installation: native, or in Python where no compiler was at hand."""

from __future__ import annotations

import os
from enum import StrEnum

from samuel.process.emit_client import NATIVE_CLIENT

HOW_TO_GET_NATIVE = "install a C compiler and then Samuel again, or install Samuel's wheel for this platform"

_ELF = b"\x7fELF"
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


class ClientProgram(StrEnum):
    """What `samuel-emit` is."""

    NATIVE = "native"
    PYTHON = "python"
    MISSING = "missing"


def client_program(installation: str) -> ClientProgram:
    """What the `samuel-emit` in the directory of an installation is."""
    try:
        with open(os.path.join(installation, NATIVE_CLIENT), "rb") as file:
            return ClientProgram.NATIVE if file.read(4) in (_ELF, *_MACH_O) else ClientProgram.PYTHON
    except OSError:
        return ClientProgram.MISSING
