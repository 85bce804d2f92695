"""What an agent does with a tool, in a few words: `reads src/app.py`, `runs pytest -q`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from samuel.base.printable import shorten
from samuel.clients.adapter.counts import table
from samuel.clients.adapter.stream import LONGEST_ACTIVITY

_PATHS = (
    *("file_path", "filePath", "absolute_path", "path", "notebook_path", "filename", "dir_path", "target_file"),
    "AbsolutePath",
)
_COMMANDS = ("command", "cmd", "commands", "script", "CommandLine")
_PATTERNS = ("pattern", "query", "regex", "glob")
_ADDRESSES = ("url", "query", "prompt")
_SUBJECTS = ("description", "subagent_type", "prompt")

# By the name of a tool in lower case and without `_` and `-`: the verb, and where its object is.
_TOOLS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("read", "readfile", "readfiles", "readmanyfiles", "view", "viewfile", "notebookread"), ("reads", _PATHS)
    ),
    **dict.fromkeys(
        (
            *("edit", "multiedit", "editfile", "replace", "strreplace", "strreplacefile", "strreplaceeditor"),
            *("applypatch", "notebookedit", "replaceinfile", "editor"),
        ),
        ("edits", _PATHS),
    ),
    **dict.fromkeys(("write", "writefile", "writetofile", "create", "createfile"), ("writes", _PATHS)),
    **dict.fromkeys(
        (
            *("bash", "shell", "runshellcommand", "execcommand", "runcommands", "executecommand"),
            *("runinterminal", "localshell", "terminal", "runcommand"),
        ),
        ("runs", _COMMANDS),
    ),
    **dict.fromkeys(
        ("grep", "glob", "search", "searchfilecontent", "searchfiles", "rg", "find", "searchcodebase"),
        ("searches for", _PATTERNS),
    ),
    **dict.fromkeys(("ls", "list", "listdirectory", "listfiles"), ("lists", _PATHS)),
    **dict.fromkeys(("webfetch", "fetch", "fetchweb", "fetchurl"), ("fetches", _ADDRESSES)),
    **dict.fromkeys(("websearch", "googlewebsearch", "searchweb"), ("searches the web for", _PATTERNS)),
    **dict.fromkeys(("task", "agent", "delegatetask"), ("starts an agent:", _SUBJECTS)),
    **dict.fromkeys(("todowrite", "updateplan", "todo", "settodolist", "writetodos"), ("plans", ())),
}

# What a client puts around a command to run it.
_SHELL = re.compile(r"^(?:\S*/)?(?:ba|da|z)?sh\s+-l?c\s+(?P<quote>['\"]?)(?P<command>.+?)(?P=quote)$", re.DOTALL)


def tool_words(name: object, arguments: object) -> str:
    """What the use of a tool is, on one line."""
    name = name if isinstance(name, str) and name else "a tool"
    verb, keys = _TOOLS.get(name.lower().replace("_", "").replace("-", ""), ("", ()))
    if not verb:
        return action("uses", name)
    return action(verb, _first(table(arguments), keys))


def command_words(command: object) -> str:
    """What running a command is, on one line, without the shell that a client puts around it."""
    if isinstance(command, list):
        command = " ".join(word for word in command if isinstance(word, str))
    if not isinstance(command, str):
        return "runs a command"
    wrapped = _SHELL.match(command.strip())
    return action("runs", wrapped["command"] if wrapped else command)


def action(verb: str, subject: str) -> str:
    words = " ".join(subject[: 4 * LONGEST_ACTIVITY].split())
    return shorten(f"{verb} {words}".strip(), LONGEST_ACTIVITY)


def _first(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, list):
            value = next((item for item in value if isinstance(item, str)), "")
        if isinstance(value, str) and value.strip():
            return value
    return ""
