"""Patches of several files: a hook that was written for edits of one file is called once for each of them."""

from __future__ import annotations

import re
from typing import Any

_FILE = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
PATCH, PATH = "patch", "path"


def inputs_by_file(ability_id: object, tool_input: Any) -> list[Any]:
    """The input of a call as one input for each file that its patch changes; other inputs as they are."""
    if ability_id != "edit" or not isinstance(tool_input, dict) or PATH in tool_input:
        return [tool_input]
    patch = tool_input.get(PATCH)
    paths = dict.fromkeys(_FILE.findall(patch)) if isinstance(patch, str) else {}
    return [{**tool_input, PATH: path} for path in paths] or [tool_input]
