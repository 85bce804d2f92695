"""Lists of tools, as skills and recipes write them: `Read, Bash(git diff:*)`, or a YAML list of the same."""

from __future__ import annotations

import re
from typing import Any

# A name, and what it is limited to in brackets. It may become an argument of an agent: never an option.
_TOOL = re.compile(r"[A-Za-z_*][^\s,()\x00-\x1f\x7f]*(?:\([^()\x00-\x1f\x7f]*\))?")
_BETWEEN = re.compile(r"[\s,]+")


def tool_names(value: Any) -> tuple[str, ...] | None:
    """The tools of a list or of one text; None where nothing is said. ValueError for anything else."""
    if value is None:
        return None
    if isinstance(value, str):
        return _split(value)
    if not isinstance(value, list):
        raise ValueError("must be a list of tools")
    for one in value:
        if not isinstance(one, str) or not _TOOL.fullmatch(one):
            raise ValueError(f"has {one!r}, which is no tool")
    return tuple(value)


def _split(text: str) -> tuple[str, ...]:
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        if not (tool := _TOOL.match(text, at)):
            raise ValueError(f"has {text[at : at + 40]!r}, which is no tool")
        found.append(tool[0])
        at = tool.end()
        if at < len(text):
            if not (gap := _BETWEEN.match(text, at)):
                raise ValueError(f"has {text[at : at + 40]!r}, which is no tool")
            at = gap.end()
    return tuple(found)
