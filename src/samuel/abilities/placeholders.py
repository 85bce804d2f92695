"""`{name}` in an argument or a prompt: the value of that name in the input of a call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from samuel.errors import SamuelError

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def names(text: str) -> list[str]:
    """Those that a text has, each once."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(text)))


def filled(text: str, values: Mapping[str, Any]) -> str:
    """The text with its values: a string as it is, anything else as JSON. A value is never looked at again."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in values:
            raise SamuelError(f"the input has no `{found[1]}`", f"`{found[0]}` needs a value")
        given = values[found[1]]
        return given if isinstance(given, str) else msgspec.json.encode(given).decode()

    return _PLACEHOLDER.sub(value, text)
