"""What goes to and from a dialect: the client's payload, Samuel's reply and the answer to the client."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Payload = Mapping[str, Any]


class PayloadError(ValueError):
    """A payload that the client's dialect cannot read: a field is missing, renamed or of another type."""


class ClientAnswer(NamedTuple):
    """What a hook command gives back to the client that called it."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


class ClientReply(NamedTuple):
    """What Samuel composed for the event. A rewritten `tool_input` in it has the client's own names."""

    result: Mapping[str, Any] = MappingProxyType({})
    decision: str = ""  # "", "allow", "ask" or "deny"
    reason: str = ""


SILENT = ClientReply()
