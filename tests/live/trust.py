"""The step by which the user of a client tells it to trust the hooks of a project."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from tests.live.conftest import LiveProject


def trust_hooks(live: LiveProject, client: str) -> None:
    """Do it as the client itself does, where it wants one."""
    if client in STEPS:
        STEPS[client](live)


def _codex(live: LiveProject) -> None:
    """What its `/hooks` writes: the hash of each hook, as codex itself reports it."""
    settings = live.home / ".codex" / "config.toml"
    settings.parent.mkdir(exist_ok=True)
    folder = f'[projects."{live.root}"]\ntrust_level = "trusted"\n'
    settings.write_text(folder)
    hooks = codex_hooks(live)
    assert hooks
    settings.write_text(
        folder
        + "".join(f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n' for hook in hooks)
    )
    assert {hook["trustStatus"] for hook in codex_hooks(live)} == {"trusted"}


def codex_hooks(live: LiveProject) -> list[dict[str, Any]]:
    """The hooks that codex sees in the project."""
    server = subprocess.Popen(
        ["codex", "app-server"],
        env=live.env,
        cwd=live.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        assert server.stdin
        assert server.stdout
        requests = (
            {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "samuel", "version": "1"}}},
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [str(live.root)]}},
        )
        for request in requests:
            server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        answer = next(answer for answer in answers if answer.get("id") == 2)
        server.kill()
    return [hook for project in answer["result"]["data"] for hook in project["hooks"]]


def _gemini(live: LiveProject) -> None:
    place = live.home / ".gemini"
    place.mkdir(exist_ok=True)
    (place / "trustedFolders.json").write_text(json.dumps({str(live.root): "TRUST_FOLDER"}))


def _copilot(live: LiveProject) -> None:
    place = live.home / ".copilot"
    place.mkdir(exist_ok=True)
    (place / "config.json").write_text(json.dumps({"trustedFolders": [str(live.root)]}))


STEPS: Mapping[str, Callable[[LiveProject], None]] = {"codex": _codex, "gemini": _gemini, "copilot": _copilot}
