"""Where each client has its hooks, and how they look there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from samuel.clients.dialect.client import DENIABLE
from samuel.clients.entries.entry_file import EntryFile
from samuel.clients.entries.hook_command import TIMEOUT, EmitCommand, hook_script
from samuel.clients.entries.json_hooks import JsonHooks
from samuel.clients.entries.own_file import OwnFile
from samuel.clients.entries.registered import registered_events
from samuel.clients.entries.toml_hooks import TomlHooks
from samuel.clients.opencode.plugin import plugin_text
from samuel.clients.table import CLIENTS

Environment = Mapping[str, str]


@dataclass(frozen=True)
class ClientLayout:
    """The files of one client that hold hooks."""

    program: str
    """What the client is called on PATH."""
    project: tuple[EntryFile, ...]
    """Below the project's root; () if the client has no hooks of a project."""
    user: tuple[EntryFile, ...]
    """Below the client's home."""
    home: Callable[[Environment, Path], Path]
    """The client's own directory, from the environment and the user's home directory."""


def client_home(client: str, environment: Environment) -> Path:
    """The client's own directory, for the user that this environment belongs to."""
    return LAYOUTS[client].home(environment, Path(environment.get("HOME") or "/"))


def _home(default: str, *variables: str, below: str = "") -> Callable[[Environment, Path], Path]:
    def home(environment: Environment, user_home: Path) -> Path:
        for variable in variables:
            if value := environment.get(variable):
                return Path(value) / below
        return user_home / default

    return home


def _grouped(milliseconds: bool = False) -> Callable[[str, str], dict[str, object]]:
    timeout = TIMEOUT * 1000 if milliseconds else TIMEOUT

    def entry(event: str, command: str) -> dict[str, object]:
        return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}

    return entry


def _copilot_entry(event: str, command: str) -> dict[str, object]:
    return {"type": "command", "bash": command, "timeoutSec": TIMEOUT}


def _cursor_entry(event: str, command: str) -> dict[str, object]:
    closed = {"failClosed": True} if CLIENTS["cursor"].events[event] in DENIABLE else {}
    return {"command": command, "timeout": TIMEOUT, **closed}


def _agy_entry(event: str, command: str) -> dict[str, object]:
    hook: dict[str, object] = {"type": "command", "command": command, "timeout": TIMEOUT}
    # Only the events of tools have a matcher, and a group around the hook.
    return {"matcher": "", "hooks": [hook]} if event in ("PreToolUse", "PostToolUse") else hook


def _cline_files(directory: str) -> tuple[EntryFile, ...]:
    return tuple(EntryFile(f"{directory}/{event}", _cline_script(event)) for event in registered_events("cline"))


def _cline_script(event: str) -> OwnFile:
    def body(command: EmitCommand) -> str:
        return f"#!/bin/sh\n{hook_script(command, 'cline', event)}\n"

    return OwnFile(body, "#", (event,), executable=True)


_CLAUDE = JsonHooks("claude", _grouped(), byte_order_mark=True)
_CODEX = JsonHooks("codex", _grouped())
_GEMINI = JsonHooks("gemini", _grouped(milliseconds=True), comments=True)
_QWEN = JsonHooks("qwen", _grouped(milliseconds=True), comments=True)
_COPILOT = JsonHooks("copilot", _copilot_entry, new_file={"version": 1})
_CURSOR = JsonHooks("cursor", _cursor_entry, new_file={"version": 1})
_AGY = JsonHooks("agy", _agy_entry, key="samuel")
_OPENCODE = OwnFile(plugin_text, "//", registered_events("opencode"))
_KIMI = TomlHooks("kimi")

LAYOUTS: Mapping[str, ClientLayout] = {
    "claude": ClientLayout(
        "claude",
        (EntryFile(".claude/settings.json", _CLAUDE),),
        (EntryFile("settings.json", _CLAUDE),),
        _home(".claude", "CLAUDE_CONFIG_DIR"),
    ),
    "codex": ClientLayout(
        "codex",
        (EntryFile(".codex/hooks.json", _CODEX),),
        (EntryFile("hooks.json", _CODEX),),
        _home(".codex", "CODEX_HOME"),
    ),
    "gemini": ClientLayout(
        "gemini",
        (EntryFile(".gemini/settings.json", _GEMINI),),
        (EntryFile("settings.json", _GEMINI),),
        _home(".gemini", "GEMINI_CLI_HOME", below=".gemini"),
    ),
    "qwen": ClientLayout(
        "qwen",
        (EntryFile(".qwen/settings.json", _QWEN),),
        (EntryFile("settings.json", _QWEN),),
        _home(".qwen", "QWEN_HOME"),
    ),
    "copilot": ClientLayout(
        "copilot",
        (EntryFile(".github/hooks/samuel.json", _COPILOT),),
        (EntryFile("hooks/samuel.json", _COPILOT),),
        _home(".copilot", "COPILOT_HOME"),
    ),
    "kimi": ClientLayout("kimi", (), (EntryFile("config.toml", _KIMI),), _home(".kimi-code", "KIMI_CODE_HOME")),
    "opencode": ClientLayout(
        "opencode",
        (EntryFile(".opencode/plugins/samuel.js", _OPENCODE),),
        (EntryFile("plugins/samuel.js", _OPENCODE),),
        _home(".config/opencode", "XDG_CONFIG_HOME", below="opencode"),
    ),
    "cline": ClientLayout(
        "cline", _cline_files(".clinerules/hooks"), _cline_files("hooks"), _home(".cline", "CLINE_DIR")
    ),
    "cursor": ClientLayout(
        "cursor-agent",
        (EntryFile(".cursor/hooks.json", _CURSOR),),
        (EntryFile("hooks.json", _CURSOR),),
        _home(".cursor"),
    ),
    "agy": ClientLayout(
        "agy",
        (EntryFile(".agents/hooks.json", _AGY),),
        (EntryFile("hooks.json", _AGY),),
        _home(".gemini/config"),
    ),
}
