"""How clients are pointed at the scripted model: without touching a file of the user's, and without any bypass."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from samuel.clients.table import AGENTS, RUN_BRIDGES
from samuel.proving.model.launch import PROMPT, SCRIPTED_CLIENTS

URL = "http://127.0.0.1:1"
BYPASSES = ("bypass", "trust", "skip-permissions", "allow_all")


def test_every_agent_that_can_be_proved_can_be_looped_with_hooks() -> None:
    assert set(SCRIPTED_CLIENTS) & set(AGENTS) <= set(RUN_BRIDGES)


@pytest.mark.parametrize("name", SCRIPTED_CLIENTS)
def test_a_launch_has_the_prompt_and_bypasses_no_trust(name: str, tmp_path: Path) -> None:
    home, directory = tmp_path / "home", tmp_path / "directory"
    home.mkdir()
    directory.mkdir()
    launch = SCRIPTED_CLIENTS[name].launch(URL, directory, {"HOME": str(home)})
    assert launch.argv[0] == name
    assert "Do it." in launch.with_prompt("Do it.")
    assert PROMPT not in launch.with_prompt("Do it.")
    words = " ".join((*launch.argv, *launch.env, *launch.env.values())).lower()
    assert [bypass for bypass in BYPASSES if bypass in words] == []
    files = [*directory.glob("*.json"), *directory.glob("*/config.toml")]
    assert URL in words + "".join(file.read_text() for file in files)
    assert list(home.iterdir()) == []


def test_gemini_keeps_the_settings_and_the_trust_of_its_user(tmp_path: Path) -> None:
    own = tmp_path / "home" / ".gemini"
    own.mkdir(parents=True)
    settings = {"hooks": {"BeforeTool": []}, "security": {"auth": {"selectedType": "oauth-personal"}, "x": 1}}
    (own / "settings.json").write_text(json.dumps(settings))
    (own / "trustedFolders.json").write_text('{"/p": "TRUST_FOLDER"}')
    launch = SCRIPTED_CLIENTS["gemini"].launch(URL, tmp_path / "directory", {"HOME": str(tmp_path / "home")})
    overlay = Path(launch.env["GEMINI_CLI_HOME"], ".gemini")
    merged = json.loads((overlay / "settings.json").read_text())
    assert merged["hooks"] == settings["hooks"]
    assert merged["security"] == {"auth": {"selectedType": "gemini-api-key"}, "x": 1}
    assert (overlay / "trustedFolders.json").read_text() == '{"/p": "TRUST_FOLDER"}'
    assert json.loads((own / "settings.json").read_text()) == settings


def test_qwen_keeps_the_settings_of_its_system(tmp_path: Path) -> None:
    system = tmp_path / "system.json"
    system.write_text('{"hooks": {"PreToolUse": []}, "telemetry": {"enabled": true, "target": "local"}}')
    launch = SCRIPTED_CLIENTS["qwen"].launch(URL, tmp_path, {"QWEN_CODE_SYSTEM_SETTINGS_PATH": str(system)})
    merged = json.loads(Path(launch.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"]).read_text())
    assert merged["hooks"] == {"PreToolUse": []}
    assert merged["telemetry"] == {"enabled": False, "target": "local"}


def test_grok_keeps_the_settings_and_the_trust_of_its_user(tmp_path: Path) -> None:
    own = tmp_path / "home" / ".grok"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[compat.claude]\nhooks = false\n")
    (own / "trusted_folders.toml").write_text('[folders."/p"]\ntrusted = true\n')
    launch = SCRIPTED_CLIENTS["grok"].launch(URL, tmp_path / "directory", {"HOME": str(tmp_path / "home")})
    overlay = Path(launch.env["GROK_HOME"])
    settings = tomllib.loads((overlay / "config.toml").read_text())
    assert settings["compat"] == {"claude": {"hooks": False}}
    assert settings["model"]["samuel"]["base_url"] == f"{URL}/v1"
    assert (overlay / "trusted_folders.toml").read_text() == (own / "trusted_folders.toml").read_text()
