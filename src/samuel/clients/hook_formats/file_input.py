"""The key that names a file in the inputs of tools: Samuel says `path`, the hooks of most agents `file_path`."""

from __future__ import annotations

from typing import Any

FILE_TOOLS = ("read", "write", "edit")
OURS, THEIRS = "path", "file_path"


def native_input(ability_id: object, tool_input: Any) -> Any:
    """The input of a call as the hook expects it."""
    if ability_id not in FILE_TOOLS or not isinstance(tool_input, dict) or OURS not in tool_input:
        return tool_input
    return {(THEIRS if key == OURS else key): value for key, value in tool_input.items() if key != THEIRS}


def common_input(ability_id: object, tool_input: Any) -> Any:
    """An input that a hook rewrote, with Samuel's key."""
    if ability_id not in FILE_TOOLS or not isinstance(tool_input, dict) or THEIRS not in tool_input:
        return tool_input
    return {(OURS if key == THEIRS else key): value for key, value in tool_input.items() if key != OURS}
