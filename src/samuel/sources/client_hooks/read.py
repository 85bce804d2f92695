"""Reads a file with hooks of an agent: Claude Code's settings, a plugin's hooks.json, Cursor's hooks.json.

Nothing is run. An entry that Samuel cannot run is kept with the reason, so that it can be listed.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from samuel.base.errors import Problem
from samuel.clients.hook_formats.client_hook import ClientHook, ClientHookFile
from samuel.clients.hook_formats.entry import Entry, EntryProblem, ImportedFile
from samuel.clients.table import HOOK_ENTRIES
from samuel.trust import digests

MAX_BYTES = 1024 * 1024
DISABLE_ALL = "disableAllHooks"
_BRIDGE = re.compile(r"\bemit\s+--as\b")


def read_file(imported: ImportedFile, names: Counter[str]) -> ClientHookFile:
    """The hooks in one file. `names` counts the names given so far, so that each is given once."""
    file, path = imported.file, str(imported.path)
    read = ClientHookFile(file=file, path=path, client=imported.client)
    if not os.path.lexists(path):
        return read
    try:
        settings = _settings(path)
        hooks = _without_bridges(settings.get("hooks", {}))
        if not hooks:
            return read
        disabled = settings.get(DISABLE_ALL) is True
        text = json.dumps({"hooks": hooks, **({DISABLE_ALL: True} if disabled else {})}, indent=2) + "\n"
        entries = list(HOOK_ENTRIES[imported.client](imported, hooks))
    except EntryProblem as error:
        return replace(read, problems=(Problem(str(error), file, error.line, "correct the file"),))
    except RecursionError:
        return replace(read, problems=(Problem("it is nested too deeply", file, 0, "correct the file"),))
    prefix = f"{imported.client}-user" if imported.of_user else imported.client
    named = tuple(_named(entries, prefix, names, disabled=disabled))
    return replace(read, text=text, digest=digests.digest_text(text), hooks=named)


def _settings(path: str) -> Mapping[str, Any]:
    digest, data = digests.read_file(path, MAX_BYTES + 1)
    if not digest:
        raise EntryProblem("it cannot be read")
    if len(data) > MAX_BYTES:
        raise EntryProblem(f"it has more than {MAX_BYTES} bytes")
    try:
        settings = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise EntryProblem("it is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    except json.JSONDecodeError as error:
        raise EntryProblem(f"not JSON: {error.msg}, column {error.colno}", error.lineno) from None
    if not isinstance(settings, dict):
        raise EntryProblem("it must be a JSON object", 1)
    return settings


def _without_bridges(hooks: object) -> dict[str, list[Any]]:
    """The hooks by event, without Samuel's own entries and without empty lists."""
    if not isinstance(hooks, dict):
        raise EntryProblem("`hooks` must be an object")
    by_event: dict[str, list[Any]] = {}
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise EntryProblem(f"`hooks.{event}` must be an array")
        others = [group for group in map(_group_without_bridges, groups) if group is not None]
        if others:
            by_event[event] = others
    return by_event


def _group_without_bridges(group: Any) -> Any:
    if not isinstance(group, dict):
        return group  # refused later, with its place
    if _is_bridge(group):
        return None
    inner = group.get("hooks")
    if not isinstance(inner, list):
        return group
    others = [hook for hook in inner if not (isinstance(hook, dict) and _is_bridge(hook))]
    return {**group, "hooks": others} if others else None


def _is_bridge(hook: Mapping[str, Any]) -> bool:
    """Is it an entry of Samuel's own, which would call Samuel from within Samuel?"""
    words = [hook.get("command"), *(hook["args"] if isinstance(hook.get("args"), list) else ())]
    line = " ".join(word for word in words if isinstance(word, str))
    return "samuel" in line and _BRIDGE.search(line) is not None


def _named(entries: Iterable[Entry], prefix: str, names: Counter[str], *, disabled: bool) -> Iterator[ClientHook]:
    for entry in entries:
        base = f"{prefix}/{entry.script or entry.hook.client_event}"
        names[base] += 1
        name = base if names[base] == 1 and entry.script else f"{base}-{names[base]}"
        why = f"`{DISABLE_ALL}` is set in its file" if disabled else entry.hook.left_out
        yield replace(entry.hook, name=name, left_out=why)
