"""What a client asks of its user before it runs hooks, and whether the user did it.

Clients skip hooks that they do not trust, and say nothing. So `bridge add` names the step, and `bridge check`
looks where the client records it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from samuel.bridges.codex_trust import hook_states
from samuel.bridges.files import BridgeContext, BridgeEntry, Level
from samuel.clients.entries.json_text import JsonSyntaxError, parse
from samuel.clients.entries.layouts import LAYOUTS
from samuel.files.regular import read_regular
from samuel.files.toml.values import toml_values

TrustState = Literal["trusted", "untrusted", "unknown", "not needed"]


class TrustStep(NamedTuple):
    """What the client asks for, and where that stands."""

    state: TrustState
    step: str
    """What the user has to do; "" if nothing."""


def trust_step(
    context: BridgeContext, client: str, level: Level, entries: Iterable[BridgeEntry] = ()
) -> TrustStep:
    """Where the client's trust in these entries stands."""
    step = STEPS.get((client, level), "")
    if not step:
        return TrustStep("not needed", "")
    look_up = _LOOK_UPS.get(client)
    if look_up is None:
        return TrustStep("unknown", step)
    home = LAYOUTS[client].home(context.environment, context.user.home)
    trusted = look_up(context, home, tuple(entries))
    return TrustStep("trusted" if trusted else "untrusted", step)


STEPS: Mapping[tuple[str, Level], str] = {
    ("claude", "project"): "start `claude` in this directory once and accept its question about trust; "
    "`claude -p` does not ask and runs the hooks",
    (
        "codex",
        "project",
    ): "start `codex` in this directory, trust the directory, then review the hooks with `/hooks`; "
    "codex skips hooks that nobody reviewed, and says nothing",
    ("codex", "user"): "start `codex` and review the hooks with `/hooks`; "
    "codex skips hooks that nobody reviewed, and says nothing",
    ("gemini", "project"): "start `gemini` in this directory and trust the folder, or set "
    "`GEMINI_CLI_TRUST_WORKSPACE=true` where nobody can answer; `--skip-trust` is not enough",
    (
        "qwen",
        "project",
    ): "if you enabled `security.folderTrust`: start `qwen` in this directory and trust the folder",
    ("copilot", "project"): "start `copilot` in this directory and trust the folder for future sessions, or give "
    "`--trust-folder` with `copilot -p`",
    ("cursor", "project"): "open this directory in Cursor and trust the workspace",
    ("agy", "project"): "start `agy` in this directory and trust the workspace",
}


def _claude(context: BridgeContext, home: Path, entries: tuple[BridgeEntry, ...]) -> bool:
    # Beside ~/.claude, but inside a directory that CLAUDE_CONFIG_DIR names.
    place = home if context.environment.get("CLAUDE_CONFIG_DIR") else home.parent
    projects = _table(_read_json(place / ".claude.json"), "projects")
    return any(
        _table(projects, str(directory)).get("hasTrustDialogAccepted") is True
        for directory in _above(context.root)
    )


def _codex(context: BridgeContext, home: Path, entries: tuple[BridgeEntry, ...]) -> bool:
    prefixes = {f"{entry.file}:{_snake(event)}:" for entry in entries for event in entry.events}
    program = shutil.which(LAYOUTS["codex"].program, path=context.environment.get("PATH"))
    states = hook_states(program, context.root, context.environment) if program and prefixes else None
    if states is not None:
        reviewed = [key for key, state in states.items() if state in ("trusted", "managed")]
    else:
        settings = _read_toml(home / "config.toml")
        if not _codex_knows_folder(context, settings, entries):
            return False
        table = _table(_table(settings, "hooks"), "state")
        reviewed = [key for key, state in table.items() if isinstance(state, dict) and state.get("trusted_hash")]
    return bool(prefixes) and all(any(key.startswith(prefix) for key in reviewed) for prefix in prefixes)


def _codex_knows_folder(
    context: BridgeContext, settings: Mapping[str, Any], entries: Sequence[BridgeEntry]
) -> bool:
    """Whether codex reads the files of this project at all."""
    if not any(entry.level == "project" for entry in entries):
        return True
    projects = _table(settings, "projects")
    return any(
        _table(projects, str(directory)).get("trust_level") == "trusted" for directory in _above(context.root)
    )


def _gemini(context: BridgeContext, home: Path, entries: tuple[BridgeEntry, ...]) -> bool:
    if context.environment.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        return True
    return _folder_trust(context, home, enabled_by_default=True)


def _qwen(context: BridgeContext, home: Path, entries: tuple[BridgeEntry, ...]) -> bool:
    return _folder_trust(context, home, enabled_by_default=False)


def _folder_trust(context: BridgeContext, home: Path, *, enabled_by_default: bool) -> bool:
    security = _table(_read_json(home / "settings.json"), "security")
    if not _table(security, "folderTrust").get("enabled", enabled_by_default):
        return True
    rules = _read_json(home / "trustedFolders.json")
    root = os.path.realpath(context.root)
    best, trusted = -1, False
    for folder, rule in rules.items():
        place = os.path.realpath(os.path.dirname(folder) if rule == "TRUST_PARENT" else folder)
        if len(folder) > best and Path(root).is_relative_to(place):
            best, trusted = len(folder), rule in ("TRUST_FOLDER", "TRUST_PARENT")
    return trusted


def _copilot(context: BridgeContext, home: Path, entries: tuple[BridgeEntry, ...]) -> bool:
    settings = _read_json(home / "config.json")
    folders = [*_list(settings, "trustedFolders"), *_list(settings, "trusted_folders")]
    return any(str(directory) in folders for directory in _above(context.root))


_LOOK_UPS: Mapping[str, Callable[[BridgeContext, Path, tuple[BridgeEntry, ...]], bool]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "qwen": _qwen,
    "copilot": _copilot,
}


def _above(root: Path) -> tuple[Path, ...]:
    resolved = Path(os.path.realpath(root))
    return (resolved, *resolved.parents)


def _read_json(file: Path) -> Mapping[str, Any]:
    try:
        value = parse(read_regular(file).decode("utf-8-sig")).root.value
    except (OSError, UnicodeDecodeError, JsonSyntaxError):  # what cannot be read says nothing about trust
        return {}
    return value if isinstance(value, dict) else {}


def _read_toml(file: Path) -> Mapping[str, Any]:
    try:
        return toml_values(read_regular(file).decode("utf-8-sig"))
    except (OSError, ValueError):
        return {}


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def _list(values: Mapping[str, Any], key: str) -> list[Any]:
    value = values.get(key)
    return value if isinstance(value, list) else []


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
