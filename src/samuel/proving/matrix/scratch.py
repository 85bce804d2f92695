"""A home and a project for one experiment, with a client's hooks as `bridge add` writes them.

Nothing of the user's is read or changed: not their settings, their keys or what their clients trust. The hooks
name `samuel-emit`, which is found on a PATH of our own, so that a program that fails can stand in for it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.base.paths import User
from samuel.bridges import files
from samuel.bridges.files import BridgeContext
from samuel.clients.entries.hook_command import TIMEOUT, installed_command
from samuel.clients.entries.hook_trust import Level
from samuel.clients.table import LAYOUTS
from samuel.files.json import write
from samuel.process import environment, spawn
from samuel.process.emit_client import NATIVE_CLIENT, OFF, SWITCH, installation_of
from samuel.proving.matrix.mcp_probe import NAME
from samuel.proving.model.launch import ScriptedClient
from samuel.proving.model.server import ModelServer
from samuel.proving.model.wire import FinalText, Step

LONGEST_RUN = 120.0
SHORT_TIMEOUT = 5
"""The seconds that the client gives a hook in an experiment with one that hangs."""
_HELPERS = ("node", "git")  # what clients start by its name
_SECONDS = re.compile(rf'("?timeout(?:Sec|_sec|_ms)?"?\s*[:=]\s*){TIMEOUT}(000)?\b')

HOOKS = """
import time

import samuel


@samuel.hook("PreAbilityCall", role="rewrite")
def rewrite(event):
    command = event.tool_input.get("command", "")
    if "before" in command:
        return {"tool_input": {**event.tool_input, "command": command.replace("before", "after")}}


@samuel.hook("PreAbilityCall", role="guard", timeout="2s")
def guard(event):
    text = str(event.tool_input)
    if "denied" in text:
        return {"decision": "deny", "reason": "the probe denies this"}
    if "crashes" in text:
        raise ValueError("the probe crashes")
    if "hangs" in text:
        time.sleep(600)
    if "garbage" in text:
        return "garbage"


@samuel.hook("UserPromptSubmit", role="guard")
def prompts(event):
    if "denied" in event.user_message:
        return {"decision": "deny", "reason": "the probe denies this"}
"""


class ScratchRun(NamedTuple):
    """What came of one run of a client."""

    reached_model: bool
    """Whether the client asked the model and offered its tools."""
    played: int
    """How many calls of the script the model made."""
    last_words: str


class Scratch:
    """A new home and project below `directory`."""

    def __init__(self, directory: Path, client: ScriptedClient, host: Mapping[str, str]) -> None:
        self.client = client
        self.home, self.root = directory / "home", directory / "home" / "project"
        self.programs, self.settings = directory / "bin", directory / "settings"
        for place in (self.root, self.programs, self.settings):
            place.mkdir(parents=True)
        path = [entry for entry in host.get("PATH", "").split(os.pathsep) if entry]
        for name in (client.name, *_HELPERS):
            if program := shutil.which(name, path=host.get("PATH")):
                (self.programs / name).symlink_to(program)
        path = [entry for entry in path if not Path(entry, NATIVE_CLIENT).exists()]
        own = {"HOME": str(self.home), "PATH": os.pathsep.join([str(self.programs), *path]), SWITCH: OFF}
        self.env = environment.clean(own, (), host)
        user = User(self.home, self.home / ".local/state/samuel", self.home / ".cache/samuel")
        self.context = BridgeContext(self.root, user, self.env)
        self.samuel_emit = self.programs / NATIVE_CLIENT
        self.samuel_emit.symlink_to(Path(installation_of(sys.argv[0], sys.executable), NATIVE_CLIENT))
        spawn.run(("git", "init", "-q", "."), cwd=str(self.root), env=self.env, timeout=LONGEST_RUN)

    def connect(self, *, fails_closed: bool = True, hangs: bool = False) -> None:
        """Write the client's hooks and let it trust them; `fails_closed` is False to leave that setting out."""
        layout = LAYOUTS[self.client.name]
        level: Level = "project" if layout.project else "user"
        files.add(self.context, [self.client.name], level)
        for entry_file in self.context.files(self.client.name, level):
            file = self.context.base(self.client.name, level) / entry_file.path
            text = file.read_text()
            if level == "user":  # it names the installed program by its path
                text = text.replace(installed_command().words[0], str(self.samuel_emit))
            if not fails_closed:
                text = re.sub(r',\s*"onFailure": "block"', "", text)
            if hangs:
                text = _SECONDS.sub(lambda match: f"{match[1]}{SHORT_TIMEOUT}{match[2] or ''}", text)
            file.write_text(text)
        if trust := _TRUST.get(self.client.name):
            trust(self)

    def add_hooks(self) -> None:
        """Give the project the guard and the rewriter of the probe, trusted."""
        hooks = self.root / ".samuel" / "hooks" / "probe.py"
        hooks.parent.mkdir(parents=True)
        hooks.write_text(HOOKS)
        argv = (sys.executable, "-P", "-m", "samuel", "-C", str(self.root), "trust", "--yes")
        spawn.run(argv, cwd=str(self.root), env=self.env, timeout=LONGEST_RUN)

    def add_mod(self, text: str) -> None:
        """Give the user of claude a mod: a module that runs inside of it."""
        plugin = self.home / ".claude" / "skills" / "control"
        _write(plugin / ".claude-plugin" / "plugin.json", '{"name": "control", "version": "1.0.0"}')
        _write(plugin / "hooks" / "hooks.json", '{"modules": ["./mod.mjs"]}')
        _write(plugin / "hooks" / "mod.mjs", text)

    def stand_in(self, script: str) -> None:
        """Put another program in the place of `samuel-emit`."""
        self.samuel_emit.unlink()
        self.samuel_emit.write_text(script)
        self.samuel_emit.chmod(0o755)

    def play(
        self, steps: Sequence[Step], prompt: str, *, subagent: Sequence[Step] = (), mcp: bool = False
    ) -> ScratchRun:
        """Run the client; its model plays the steps. A conversation without `prompt` is that of a subagent."""
        script = [*steps, FinalText("All finished.")]
        with ModelServer(script, main=prompt if subagent else "", others=[*subagent, FinalText("Done.")]) as model:
            launch = self.client.launch(model.url, self.settings, self.env)
            extra = _EXTRA.get(self.client.name, ())
            if mcp:
                extra = (*extra, *_MCP[self.client.name](self))
            finished = spawn.run(
                (*launch.with_prompt(prompt), *extra),
                cwd=str(self.root),
                env={**self.env, **launch.env, **_VARIABLES},
                timeout=LONGEST_RUN,
            )
            requests = model.requests
        words = (finished.stdout + finished.stderr).decode("utf-8", "replace")
        calls = max((len(request.results) for request in requests), default=0)
        return ScratchRun(any(request.tools for request in requests), calls, words[-400:])

    def has(self, name: str) -> bool:
        """Whether a command of the script made this file."""
        return (self.root / name).exists()


def _trust_codex(scratch: Scratch) -> None:
    _write(scratch.home / ".codex/config.toml", f'[projects."{scratch.root}"]\ntrust_level = "trusted"\n')


def _trust_gemini(scratch: Scratch) -> None:
    _write(scratch.home / ".gemini/trustedFolders.json", write({str(scratch.root): "TRUST_FOLDER"}).decode())


def _trust_copilot(scratch: Scratch) -> None:
    _write(scratch.home / ".copilot/config.json", write({"trustedFolders": [str(scratch.root)]}).decode())


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


_TRUST: Mapping[str, Callable[[Scratch], None]] = {
    "codex": _trust_codex,
    "gemini": _trust_gemini,
    "copilot": _trust_copilot,
}
# Options by which the client runs everything that no hook objects to.
_EXTRA: Mapping[str, tuple[str, ...]] = {
    "claude": ("--dangerously-skip-permissions",),
    "codex": ("--dangerously-bypass-hook-trust",),
}
_VARIABLES = {
    "IS_SANDBOX": "1",  # as root, claude skips no permissions without it
    "ENABLE_TOOL_SEARCH": "false",  # claude offers the tools of MCP servers at once
}
_PROBE = (sys.executable, "-P", "-m", "samuel.proving.matrix.mcp_probe")


def _mcp_claude(scratch: Scratch) -> tuple[str, ...]:
    server = {"command": _PROBE[0], "args": list(_PROBE[1:])}
    _write(scratch.settings / "mcp.json", write({"mcpServers": {NAME: server}}).decode())
    return ("--mcp-config", str(scratch.settings / "mcp.json"))


# Codex offers such tools only after a search, which the scripted model does not do.
_MCP: Mapping[str, Callable[[Scratch], tuple[str, ...]]] = {"claude": _mcp_claude}
MCP_CLIENTS = tuple(_MCP)
