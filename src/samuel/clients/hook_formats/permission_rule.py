"""A permission rule as the condition (`if`) of a hook of Claude Code: `Bash(git push *)`, `Write(.env*)`, `Read`.

In doubt a rule holds: better a guard that is called once too often than one that is not called. So a command line
is compared at each place where a command may begin, and a rule about something other than a command or a file
holds for every call of its tool. The imports are few, since `samuel emit` uses this before the engine is loaded.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from samuel.clients.hook_formats.matcher import tool_names
from samuel.files.globs import chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

CLIENT_RULE = "client_rule"
"""The filter of a handler that holds a rule."""
LONGEST = 1000  # characters of a rule

_RULE = re.compile(r"(?P<tool>[\w*-]+)(?:\((?P<argument>.*)\))?", re.DOTALL)
_BEGINNINGS = re.compile(r"[;&|\n(){}`]|\$\(|\b(?:then|do|else|exec|sudo|env|xargs|time|nohup)\b|\w+=\S*")
_COMMAND, _PATHS = "command", ("file_path", "notebook_path", "path")


def rule_problem(rule: object) -> str:
    """Why a condition cannot be used, or ""."""
    if isinstance(rule, str) and len(rule) <= LONGEST and _RULE.fullmatch(rule.strip()):
        return ""
    return f"its condition (`if`) is not a permission rule: `{str(rule)[:100]}`"


def chooses_call(rule: Mapping[str, Any], field: Callable[[str], Any]) -> bool:
    """Is the event about a call that the rule in `matcher` names?"""
    parts = _RULE.fullmatch(rule["matcher"].strip())
    if parts is None:
        return True
    if not any(fnmatchcase(name, parts["tool"]) for name in tool_names(rule, field)):
        return False
    argument, tool_input = parts["argument"], field("tool_input")
    if argument is None or not isinstance(tool_input, dict):
        return True
    command = tool_input.get(_COMMAND)
    if isinstance(command, str):
        return _chooses_command(argument, command)
    path = next((tool_input[key] for key in _PATHS if isinstance(tool_input.get(key), str)), None)
    return path is None or _chooses_path(argument, path, str(field("project_root") or ""))


def _chooses_command(argument: str, command: str) -> bool:
    # `git push:*` is an older way to say `git push` and `git push *`.
    patterns = (argument[:-2], f"{argument[:-2]} *") if argument.endswith(":*") else (argument,)
    beginnings = [0, *(match.end() for match in _BEGINNINGS.finditer(command))]
    return any(
        fnmatchcase(part, pattern) or fnmatchcase(part, f"{pattern} *")
        for start in beginnings
        for part in _segments(command[start:].strip())
        for pattern in patterns
    )


def _segments(text: str) -> tuple[str, str]:
    """The text to its end, and to where the next command may begin."""
    return text, re.split(r"[;&|\n)}`]", text, maxsplit=1)[0].strip()


def _chooses_path(argument: str, path: str, root: str) -> bool:
    if argument.startswith(("//", "~")):  # a path of the machine or of the home directory
        pattern = os.path.expanduser(argument.removeprefix("/"))
        return chosen(os.path.normpath(path).lstrip("/"), [pattern.lstrip("/") if "/" in pattern else pattern])
    relative = os.path.normpath(path).removeprefix(f"{root}/") if root else os.path.normpath(path)
    return chosen(relative.lstrip("/"), [argument.removeprefix("./")])
