"""How each client is started so that it asks the scripted model instead of its own.

Only variables, arguments and files in a directory of ours are used: the user's settings, their hooks and what they
trust stay in force, which is what a proof is about. So there is no flag here that makes a client trust a hook or a
folder. A client may run commands without asking where it has an option for that: the script decides which ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError

from samuel.bridges.process_bridge import overlay_home
from samuel.clients.entries.settings_file import read_settings
from samuel.clients.qwen import entries as qwen
from samuel.clients.table import LAYOUTS
from samuel.files import atomic
from samuel.files.json import write
from samuel.files.regular import read_regular
from samuel.proving.model.wire import MODEL, ToolCall

KEY = "samuel-canary-key"  # the scripted model asks for none, but clients refuse to start without
DESCRIPTION = "Run a command of the script."
PROMPT, URL = "{prompt}", "{url}"
_NO_REPORTS = {"privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}


class ClientLaunch(NamedTuple):
    """The command line of a client, with `{prompt}` for the prompt, and the variables that it needs."""

    argv: tuple[str, ...]
    env: Mapping[str, str]

    def with_prompt(self, prompt: str) -> tuple[str, ...]:
        return tuple(prompt if word == PROMPT else word for word in self.argv)


@dataclass(frozen=True)
class ScriptedClient:
    """A client that the scripted model can drive."""

    name: str
    shell: Callable[[str], ToolCall]
    """The call of its tool that runs a shell command."""
    arguments: tuple[str, ...]
    """With `{prompt}` for the prompt and `{url}` for the URL of the model."""
    env: Mapping[str, str] = field(default_factory=dict)
    """The variables that it needs, with `{url}` for the URL of the model."""
    prepare: Callable[[str, Path, Mapping[str, str]], Mapping[str, str]] = lambda url, directory, host: {}
    """Of the URL, a directory for the files that it needs and the user's environment -> further variables."""
    passes: tuple[str, ...] = ()
    """The user's variables that it gets: where its files are, and what the user told it to trust."""
    subagent: Callable[[str], ToolCall] | None = None
    """The call of its tool that gives a prompt to a subagent, for clients whose subagents were tried."""

    def launch(self, url: str, directory: Path, host: Mapping[str, str] = os.environ) -> ClientLaunch:
        """How it is started for the model at this URL; the files that it needs are written to `directory`."""
        argv = tuple(word.replace(URL, url) for word in (self.name, *self.arguments))
        env = {name: value.replace(URL, url) for name, value in self.env.items()}
        return ClientLaunch(argv, {**env, **self.prepare(url, directory, host)})


def _shell(tool: str, **others: Any) -> Callable[[str], ToolCall]:
    return lambda command: ToolCall(tool, {"command": command, "description": DESCRIPTION, **others})


def _settings_file(directory: Path, name: str, settings: Mapping[str, Any]) -> str:
    file = directory / name
    atomic.write_bytes(file, write(settings), durable=False)
    return str(file)


def _merged(settings: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in which those of `others` win, table by table."""
    merged = dict(settings)
    for key, value in others.items():
        own = merged.get(key)
        merged[key] = _merged(own, value) if isinstance(own, dict) and isinstance(value, dict) else value
    return merged


def _gemini(url: str, directory: Path, host: Mapping[str, str]) -> dict[str, str]:
    # The user's own home by links, but for the settings: a file of system settings is read only if root owns it.
    home, own = directory / "gemini", LAYOUTS["gemini"].home_of(host)
    overlay_home(own, home / ".gemini", ("settings.json",))
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        **_NO_REPORTS,
    }
    _settings_file(home / ".gemini", "settings.json", _merged(read_settings(own / "settings.json"), settings))
    return {"GEMINI_CLI_HOME": str(home)}


def _qwen(url: str, directory: Path, host: Mapping[str, str]) -> dict[str, str]:
    settings = {"general": {"disableAutoUpdate": True, "enableAutoUpdate": False}, **_NO_REPORTS}
    merged = _merged(qwen.system_settings(host), settings)
    return {qwen.VARIABLE: _settings_file(directory, "qwen.json", merged)}


def _opencode(url: str, directory: Path, host: Mapping[str, str]) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Samuel",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {MODEL: {"name": MODEL, "tool_call": True}},
    }
    config = {
        "provider": {"samuel": provider},
        "model": f"samuel/{MODEL}",
        "small_model": f"samuel/{MODEL}",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"bash": "allow", "external_directory": "allow"},
    }
    return {"OPENCODE_CONFIG_CONTENT": write(config).decode(), "npm_config_cache": str(directory / "npm")}


def _cline(url: str, directory: Path, host: Mapping[str, str]) -> dict[str, str]:
    provider = {"provider": "openai-compatible", "apiKey": KEY, "model": MODEL, "baseUrl": f"{url}/v1"}
    entry = {"settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": entry}}
    return {"CLINE_PROVIDER_SETTINGS_PATH": _settings_file(directory, "providers.json", providers)}


def _grok(url: str, directory: Path, host: Mapping[str, str]) -> dict[str, str]:
    # The user's own home by links, but for the settings: only they can name another model.
    home, own = directory / "grok", LAYOUTS["grok"].home_of(host)
    overlay_home(own, home, ("config.toml",))
    settings = _toml_settings(own / "config.toml")
    model = {"model": MODEL, "base_url": f"{url}/v1", "name": "Samuel", "api_key": KEY, "context_window": 128_000}
    settings.setdefault("model", {})["samuel"] = model
    atomic.write_text(home / "config.toml", tomlkit.dumps(settings), 0o600, durable=False)
    return {"GROK_HOME": str(home)}


def _toml_settings(file: Path) -> tomlkit.TOMLDocument:
    """The settings in a file; none if it is not there, or cannot be read."""
    try:
        return tomlkit.parse(read_regular(file).decode())
    except (OSError, UnicodeDecodeError, TOMLKitError):
        return tomlkit.document()


_OPENCODE_SWITCHES = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "SHARE")
_CODEX_PROVIDER = '{name="Samuel", base_url="{url}/v1", wire_api="responses", env_key="SAMUEL_CANARY_KEY"}'
_CODEX_SETTINGS = (
    f"model_providers.samuel={_CODEX_PROVIDER}",
    *('model_provider="samuel"', 'model="gpt-5.5"', 'approval_policy="never"'),
    *("analytics.enabled=false", "feedback.enabled=false", "features.plugins=false", "features.apps=false"),
)

_CLIENTS = (
    ScriptedClient(
        "claude",
        _shell("Bash"),
        ("-p", PROMPT, "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"),
        {
            "ANTHROPIC_BASE_URL": URL,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        passes=("CLAUDE_CONFIG_DIR",),
        subagent=lambda prompt: ToolCall(
            "Agent", {"description": DESCRIPTION, "prompt": prompt, "subagent_type": "general-purpose"}
        ),
    ),
    ScriptedClient(
        "codex",
        lambda command: ToolCall(
            "exec_command", {"cmd": command, "yield_time_ms": 30_000}
        ),  # it waits for the end
        (
            *("exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access"),
            *(word for setting in _CODEX_SETTINGS for word in ("-c", setting)),
            PROMPT,
        ),
        {"SAMUEL_CANARY_KEY": KEY},
        passes=("CODEX_HOME",),
    ),
    ScriptedClient(
        "gemini",
        _shell("run_shell_command"),
        ("-p", PROMPT, "--approval-mode", "yolo", "-o", "json", "-m", "gemini-2.5-flash"),
        {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": URL, "GEMINI_CLI_NO_RELAUNCH": "true"},
        _gemini,
        ("GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_TRUSTED_FOLDERS_PATH", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"),
    ),
    ScriptedClient(
        "qwen",
        _shell("run_shell_command", is_background=False),
        ("--auth-type", "openai", "--approval-mode", "yolo", "-o", "json", PROMPT),
        {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{URL}/v1",
            "OPENAI_MODEL": MODEL,
            "QWEN_CODE_NO_RELAUNCH": "1",
        },
        _qwen,
        ("QWEN_HOME", "QWEN_CODE_TRUSTED_FOLDERS_PATH"),
    ),
    ScriptedClient(
        "copilot",
        _shell("bash"),
        ("--allow-all-tools", "--no-ask-user", "--no-auto-update", "--no-color", "-p", PROMPT),
        {
            "COPILOT_PROVIDER_BASE_URL": f"{URL}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_OFFLINE": "true",
            "COPILOT_MODEL": MODEL,
        },
        passes=("COPILOT_HOME",),
    ),
    ScriptedClient(
        "opencode",
        _shell("bash"),
        ("run", "--format", "json", PROMPT),
        {
            **dict.fromkeys((f"OPENCODE_DISABLE_{name}" for name in _OPENCODE_SWITCHES), "1"),
            # It gets a package where there is a plugin, and waits for it; the scripted model has none to give.
            "npm_config_registry": URL,
        },
        _opencode,
        ("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"),
    ),
    ScriptedClient(
        "kimi",
        _shell("Bash"),
        ("-p", PROMPT, "--output-format", "stream-json"),
        {
            "KIMI_MODEL_NAME": MODEL,
            "KIMI_MODEL_API_KEY": KEY,
            "KIMI_MODEL_PROVIDER_TYPE": "openai",
            "KIMI_MODEL_BASE_URL": f"{URL}/v1",
            "KIMI_CODE_NO_AUTO_UPDATE": "1",
        },
        passes=("KIMI_CODE_HOME",),
    ),
    ScriptedClient(
        "cline",
        lambda command: ToolCall("run_commands", {"commands": [command]}),
        ("--json", "-P", "openai-compatible", "-m", MODEL, PROMPT),
        {"CLINE_SESSION_BACKEND_MODE": "local"},
        _cline,
        ("CLINE_DIR", "CLINE_DATA_DIR"),
    ),
    ScriptedClient(
        "grok",
        _shell("run_terminal_command"),
        ("-p", PROMPT, "-m", "samuel", "--always-approve"),
        {},
        _grok,
    ),
)
SCRIPTED_CLIENTS: Mapping[str, ScriptedClient] = {client.name: client for client in _CLIENTS}
