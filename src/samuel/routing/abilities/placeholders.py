"""Placeholders in an argument or a prompt: `{name}` is replaced by that value of a call's input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from samuel.base.errors import SamuelError

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def names(text: str) -> list[str]:
    """The names of the placeholders in a text, each once."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(text)))


def fill(text: str, values: Mapping[str, Any]) -> str:
    """The text with its values: strings as they are, anything else as JSON. Placeholders in values stay."""

    def replacement(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise SamuelError(f"the input has no `{match[1]}`", f"`{match[0]}` needs a value")
        value = values[match[1]]
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()

    return _PLACEHOLDER.sub(replacement, text)
