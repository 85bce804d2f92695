"""One guard, in each client inside `samuel run start`, with nothing set up in the client."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from tests.live.conftest import PATIENCE, LiveProject
from tests.live.test_by_itself import ENDS_ON_DENIAL, fired

from samuel.agents.agent import USAGE_FILE
from samuel.agents.table import AGENTS
from samuel.bridges.model.launch import SCRIPTED_CLIENTS, ClientLaunch
from samuel.bridges.model.script import FinalText
from samuel.bridges.model.server import ModelServer

GUARD = """
import samuel


@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    if "victim" in event.tool_input.get("command", ""):
        return {"decision": "deny", "reason": "the victim stays where it is"}
"""
CLAIM = '"$PWD/.samuel/run/bin/samuel" run done "$SAMUEL_TASK_ID"'
# How these are pointed at the scripted model by their command line; the others need variables only.
OPTIONS = {"codex": ("-c", "-m"), "cline": ("-P", "-m"), "gemini": ("-m",), "qwen": ("--auth-type",)}


def agent_table(client: str, launch: ClientLaunch) -> str:
    """The agent that Samuel ships, pointed at the scripted model, as a wrapper of the client."""
    agent = AGENTS[client]
    options = [
        word
        for option, value in zip(launch.argv, launch.argv[1:], strict=False)
        if option in OPTIONS.get(client, ())
        for word in (option, value)
    ]
    command = [word for word in (*agent.command, *options) if USAGE_FILE not in word]
    variables = sorted({*agent.env, *launch.env, "IS_SANDBOX"})
    return (
        f"[agents.live]\ncommand = {json.dumps(command)}\nprompt = {json.dumps(agent.prompt)}\n"
        f'env = {json.dumps(variables)}\nstream = "{client}"\nhooks = "{client}"\n'
    )


def run_start(live: LiveProject, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    root = {"IS_SANDBOX": "1"} if os.geteuid() == 0 else {}  # or claude refuses to work unattended
    return subprocess.run(
        ["samuel", "run", "start", "--yes", "--iterations", "1"],
        cwd=live.root,
        env={**live.env, **env, **root},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.live
def test_a_guard_holds_for_the_tool_calls_of_a_looped_client(live: LiveProject, client: str) -> None:
    live.write(".samuel/hooks/live.py", GUARD)
    victim = live.write("victim", "precious")
    live.write("PRD.md", "# Tasks\n\n- [ ] 1.1 Write hi.txt\n")
    live.samuel("run", "init", "--prd", "PRD.md")
    shell = SCRIPTED_CLIENTS[client].shell
    steps = [shell("echo hi > hi.txt"), shell(CLAIM), shell("rm -rf victim"), FinalText("All finished.")]
    with ModelServer(steps) as model:
        launch = SCRIPTED_CLIENTS[client].launch(model.url, live.settings)
        live.write("samuel.toml", f'[methodology.ralph]\nagent = "live"\n{agent_table(client, launch)}')
        done = run_start(live, dict(launch.env))
        results = "\n".join(result.text for result in model.tool_results)

    assert victim.read_text() == "precious", done
    assert done.returncode == 0, done
    if client not in ENDS_ON_DENIAL:
        assert "the victim stays where it is" in results, done
    calls = fired(live, "PreAbilityCall")
    assert [call["ability_id"] for call in calls] == ["shell"] * 3, done
    run_facts: dict[str, Any] = live.answer("run", "show")
    assert {call["run_id"] for call in calls} == {run_facts["run_id"]}
    assert {call["session_id"] for call in calls} == {f"{run_facts['run_id']}-1"}
    (attempt,) = run_facts["attempts"]
    assert attempt["coverage"].get("not_judged", {}) == {}, attempt
    assert attempt["coverage"]["judged"] >= 2, attempt  # a denied call is not in the output of every client
    assert len(fired(live, "UserPromptSubmit")) == 1  # by the loop, and not once more by the client
