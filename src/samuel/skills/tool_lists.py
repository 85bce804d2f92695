"""Lists of tools, as skills and recipes write them: `Read, Bash(git diff:*)`, or a YAML list of the same."""

from __future__ import annotations

import re
from typing import Any

# A name, and what it is limited to in brackets. It may become an argument of an agent, so it cannot be an option.
_TOOL = re.compile(r"[A-Za-z_*][^\s,()\x00-\x1f\x7f]*(?:\([^()\x00-\x1f\x7f]*\))?")
_BETWEEN = re.compile(r"[\s,]+")


def tool_names(value: Any) -> tuple[str, ...] | None:
    """The tools of a YAML list or of one string; None for None. ValueError for anything else."""
    if value is None:
        return None
    if isinstance(value, str):
        return _split(value)
    if not isinstance(value, list):
        raise ValueError("must be a list of tools")
    for tool in value:
        if not isinstance(tool, str) or not _TOOL.fullmatch(tool):
            raise ValueError(f"has {tool!r}, which is not a tool name")
    return tuple(value)


def _split(text: str) -> tuple[str, ...]:
    tools, at = [], 0
    text = text.strip()
    while at < len(text):
        if not (tool := _TOOL.match(text, at)):
            raise ValueError(f"has {text[at : at + 40]!r}, which is not a tool name")
        tools.append(tool[0])
        at = tool.end()
        if at < len(text):
            if not (gap := _BETWEEN.match(text, at)):
                raise ValueError(f"has {text[at : at + 40]!r}, which is not a tool name")
            at = gap.end()
    return tuple(tools)
