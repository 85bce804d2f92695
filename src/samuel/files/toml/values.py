"""Parsing TOML that came with a project or belongs to another program, and may be nested to any depth."""

from __future__ import annotations

import tomllib
from typing import Any

from samuel.files.toml.lines import DEEPEST, too_deep

TOO_DEEP = f"nests deeper than {DEEPEST} levels"


class TomlTooDeep(ValueError):
    """A text that tomllib would not parse within Python's stack."""

    def __init__(self, line: int) -> None:
        super().__init__(f"it {TOO_DEEP} (at line {line})")
        self.line = line


def toml_values(text: str) -> dict[str, Any]:
    """The values of a TOML text. Raises ValueError for whatever is wrong with it."""
    if (line := too_deep(text)) is not None:
        raise TomlTooDeep(line)
    return tomllib.loads(text)
