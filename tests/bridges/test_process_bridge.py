"""What each client gets for one process: read back as the client reads it, and run as the client runs it."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.base.errors import SamuelError
from samuel.bridges.process_bridge import ProcessBridge, process_bridge
from samuel.bridges.run_server import ServerAddress
from samuel.clients.dialect.events import POST, PRE
from samuel.clients.table import CLIENTS, RUN_BRIDGES

Commands = dict[str, str]


def grouped(hooks: dict[str, Any]) -> Commands:
    return {event: entries[-1]["hooks"][0]["command"] for event, entries in hooks.items()}


def of_claude(bridge: ProcessBridge) -> Commands:
    assert bridge.arguments[0] == "--settings"
    settings = json.loads(bridge.arguments[1])
    assert settings["disableAllHooks"] is False
    return grouped(settings["hooks"])


def of_codex(bridge: ProcessBridge) -> Commands:
    assert "--dangerously-bypass-hook-trust" in bridge.arguments
    words = iter(bridge.arguments)
    settings = [next(words) for word in words if word == "-c"]
    hooks: dict[str, Any] = {}
    for setting in settings:
        hooks |= tomllib.loads(setting).get("hooks", {})
    return grouped(hooks)


def of_gemini(bridge: ProcessBridge) -> Commands:
    settings = json.loads(Path(bridge.env["GEMINI_CLI_HOME"], ".gemini/settings.json").read_text())
    assert settings["ui"] == {"theme": "dark"}
    return grouped(settings["hooks"])


def of_qwen(bridge: ProcessBridge) -> Commands:
    return grouped(json.loads(Path(bridge.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"]).read_text())["hooks"])


def of_copilot(bridge: ProcessBridge) -> Commands:
    option, _, directory = bridge.arguments[0].partition("=")
    assert option == "--plugin-dir"
    manifest = json.loads(Path(directory, "plugin.json").read_text())
    hooks = json.loads(Path(directory, manifest["hooks"]).read_text())["hooks"]
    return {event: entries[0]["bash"] for event, entries in hooks.items()}


def of_kimi(bridge: ProcessBridge) -> Commands:
    config = tomllib.loads(Path(bridge.env["KIMI_CODE_HOME"], "config.toml").read_text())
    assert config["default_model"] == "m"
    return {hook["event"]: hook["command"] for hook in config["hooks"]}


def of_cline(bridge: ProcessBridge) -> Commands:
    hooks = Path(bridge.env["CLINE_DIR"], "hooks")
    return {file.name: str(file) for file in hooks.iterdir() if file.name != "TaskStart"}


READERS: dict[str, Callable[[ProcessBridge], Commands]] = {
    "claude": of_claude,
    "codex": of_codex,
    "gemini": of_gemini,
    "qwen": of_qwen,
    "copilot": of_copilot,
    "kimi": of_kimi,
    "cline": of_cline,
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user's home with settings of some clients."""
    home = tmp_path / "home"
    for name, text in (
        (".gemini/settings.json", '{\n  // mine\n  "ui": {"theme": "dark"},\n}\n'),
        (".gemini/oauth_creds.json", "{}"),
        (".kimi-code/config.toml", 'default_model = "m"\n'),
        (".cline/hooks/TaskStart", "#!/bin/sh\n"),
        (".cline/data/settings/providers.json", "{}"),
    ):
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return home


@pytest.fixture
def make(tmp_path: Path, home: Path) -> Callable[[str], ProcessBridge]:
    def bridge(
        client: str, server: ServerAddress | None = None, events: tuple[str, ...] = (PRE, POST), **host: str
    ) -> ProcessBridge:
        variables = {"SAMUEL_RUN_ID": "run-1", "SAMUEL_TASK_ID": "it's 1.1", "PATH": "/nowhere", "LC_X-Y": "z"}
        directories = (tmp_path / "project", tmp_path / "state/bridge/1", tmp_path / "state/homes/1")
        for directory in directories:
            directory.mkdir(parents=True, exist_ok=True)
        return process_bridge(client, *directories, variables, {"HOME": str(home), **host}, server, events)

    return bridge


def files_of(directory: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def test_every_bridge_for_a_process_is_read_back_here() -> None:
    assert set(RUN_BRIDGES) == {*READERS, "opencode"}


@pytest.mark.parametrize("client", READERS)
def test_a_client_gets_hooks_for_the_events_of_its_tool_calls_that_are_asked_for(
    client: str, make: Callable[..., ProcessBridge], home: Path
) -> None:
    before = files_of(home)
    for events in ((PRE, POST), (PRE,)):
        commands = READERS[client](make(client, events=events))
        assert set(commands) == {event for event, name in CLIENTS[client].events.items() if name in events}
    assert files_of(home) == before


@pytest.mark.parametrize("client", READERS)
def test_a_call_is_denied_where_samuel_cannot_start(
    client: str, make: Callable[[str], ProcessBridge], tmp_path: Path
) -> None:
    commands = READERS[client](make(client))
    (tmp_path / "state/bridge/1/samuel-emit").unlink()
    event = next(event for event, name in CLIENTS[client].events.items() if name == PRE)
    answer = subprocess.run(["sh", "-c", commands[event]], input=b"{}", capture_output=True, check=False)
    if client == "copilot":
        assert json.loads(answer.stdout)["permissionDecision"] == "deny"
    elif client == "cline":
        assert json.loads(answer.stdout)["cancel"] is True
    else:
        assert answer.returncode == 2
        assert answer.stderr


@pytest.mark.parametrize("client", READERS)
def test_a_hook_asks_the_server_of_the_run_and_names_the_launcher_for_when_it_does_not_answer(
    client: str, make: Callable[..., ProcessBridge], tmp_path: Path
) -> None:
    program = put_program(tmp_path / "samuel-emit")
    commands = READERS[client](make(client, ServerAddress(str(program), "/tmp/a b/socket", 7, 8)))
    launcher = tmp_path / "state/bridge/1/samuel-emit"
    for event, command in commands.items():
        subprocess.run(["sh", "-c", command], input=b"{}", check=True)
        words = (tmp_path / "words").read_text().splitlines()
        assert words[:8] == ["--server", "/tmp/a b/socket", "7", "8", str(launcher), "--as", client, event]
    assert "--server" not in launcher.read_text()  # it would start itself


def put_program(path: Path) -> Path:
    """A program that writes its arguments into a file beside it, one in a line."""
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {path.parent}/words\n')
    path.chmod(0o755)
    return path


def test_the_plugin_of_opencode_asks_the_server_of_the_run_about_tool_calls_alone(
    make: Callable[..., ProcessBridge], tmp_path: Path
) -> None:
    make("opencode", ServerAddress("/a/samuel-emit", "/b/socket", 7, 8))
    plugin = (tmp_path / "state/bridge/1/samuel.js").read_text()
    launcher = tmp_path / "state/bridge/1/samuel-emit"
    words = ["/a/samuel-emit", "--server", "/b/socket", "7", "8", str(launcher)]
    assert f"const COMMAND = {json.dumps(words)}\n" in plugin
    assert 'const EVENTS = ["tool.execute.before", "tool.execute.after"]\n' in plugin


def test_the_launcher_has_the_variables_of_the_run(make: Callable[[str], ProcessBridge], tmp_path: Path) -> None:
    make("claude")
    script = (tmp_path / "state/bridge/1/samuel-emit").read_text()
    assert "export SAMUEL_TASK_ID='it'\"'\"'s 1.1'" in script
    assert "export PATH=/nowhere" in script
    assert "LC_X-Y" not in script  # a shell would end there
    assert "export SAMUEL_SERVE=off" in script
    unset = next(line for line in script.splitlines() if line.startswith("unset ")).split()
    assert {"TERM", "NO_COLOR"} < set(unset)
    assert {"HOME", "PATH", "http_proxy"}.isdisjoint(unset)


def test_opencode_keeps_the_settings_of_its_variable(make: Callable[..., ProcessBridge], tmp_path: Path) -> None:
    bridge = make("opencode", OPENCODE_CONFIG_CONTENT='{"model": "x/m", "plugin": ["own"]}')
    settings = json.loads(bridge.env["OPENCODE_CONFIG_CONTENT"])
    plugin = tmp_path / "state/bridge/1/samuel.js"
    assert settings == {"model": "x/m", "plugin": ["own", plugin.as_uri()]}
    assert "tool.execute.before" in plugin.read_text()


def test_a_home_of_its_own_has_what_the_user_has(make: Callable[[str], ProcessBridge], home: Path) -> None:
    bridge = make("gemini")
    overlay = Path(bridge.env["GEMINI_CLI_HOME"], ".gemini")
    assert (overlay / "oauth_creds.json").resolve() == home / ".gemini/oauth_creds.json"
    assert not (overlay / "settings.json").is_symlink()
    (private,) = bridge.homes
    assert private.visible_files == ("oauth_creds.json", "settings.json")


@pytest.mark.parametrize("switches", ['{"enabled": false}', '{"disabled": ["samuel"]}'])
def test_a_project_cannot_switch_the_hooks_of_gemini_off(
    make: Callable[[str], ProcessBridge], tmp_path: Path, switches: str
) -> None:
    settings = tmp_path / "project/.gemini/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'{{"hooksConfig": {switches}}}')
    with pytest.raises(SamuelError, match="switches hooks off"):
        make("gemini")


def test_hooks_of_the_administrator_of_qwen_stay(make: Callable[..., ProcessBridge], tmp_path: Path) -> None:
    entry = {"matcher": "*", "hooks": [{"type": "command", "command": "audit"}]}
    system = tmp_path / "system.json"
    system.write_text(json.dumps({"hooks": {"PreToolUse": [entry], "SessionEnd": [entry]}}))
    bridge = make("qwen", QWEN_CODE_SYSTEM_SETTINGS_PATH=str(system))
    hooks = json.loads(Path(bridge.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"]).read_text())["hooks"]
    assert hooks["SessionEnd"] == [entry]
    assert hooks["PreToolUse"][0] == entry
    assert len(hooks["PreToolUse"]) == 2


def test_a_changed_file_of_the_bridge_is_noticed(make: Callable[[str], ProcessBridge]) -> None:
    bridge = make("qwen")
    assert bridge.changed_files() == []
    file = Path(bridge.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"])
    settings = json.loads(file.read_text())
    file.write_text(json.dumps({**settings, "$version": 3}))  # as the client does
    assert bridge.changed_files() == []
    file.write_text(json.dumps({**settings, "hooks": {}}))
    file.with_name("samuel-emit").unlink()
    assert bridge.changed_files() == ["qwen.json", "samuel-emit"]
