"""The loop with each client that Samuel has an adapter for: real programs, a scripted model, two tasks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.length import FULL

from samuel.clients.table import AGENTS
from samuel.proving.model.launch import KEY, SCRIPTED_CLIENTS
from samuel.proving.model.server import ModelServer
from samuel.proving.model.wire import MODEL, FinalText, Step, ToolCall

from .conftest import CLIENTS, LiveProject

COMMAND = 'echo hello >> out.txt; samuel run done "$SAMUEL_TASK_ID"'
UNCOUNTED = ("kimi",)  # it does not report its tokens
CONFIG = """
[methodology.ralph]
agent = "{name}"
pause = "0s"
max_wait = "0s"
baseline = "accept"
quality_checks = ["grep -q hello out.txt"]
"""


def pi(url: str, live: LiveProject) -> Mapping[str, str]:
    settings = live.home / ".pi" / "agent"
    settings.mkdir(parents=True)
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": KEY, "models": [{"id": MODEL}]}
    (settings / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))
    (settings / "settings.json").write_text(json.dumps({"defaultProvider": "scripted", "defaultModel": MODEL}))
    return {"PI_OFFLINE": "1"}


def aider(url: str, live: LiveProject) -> Mapping[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_API_BASE": f"{url}/v1", "AIDER_MODEL": f"openai/{MODEL}"}


def mini(url: str, live: LiveProject) -> Mapping[str, str]:
    variables = {"MSWEA_MODEL_NAME": f"openai/{MODEL}", "MSWEA_COST_TRACKING": "ignore_errors"}
    return {**aider(url, live), **variables}


OTHERS: Mapping[str, tuple[Callable[[str, LiveProject], Mapping[str, str]], tuple[Step, ...]]] = {
    "pi": (pi, (ToolCall("bash", {"command": COMMAND}), FinalText("All finished."))),
    "aider": (aider, (FinalText("out.txt\n```\nhello\n```\n"),)),
    "mini-swe-agent": (
        mini,
        (
            ToolCall("bash", {"command": COMMAND}),
            ToolCall("bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}),
        ),
    ),
}
NAMES = ("qwen", "opencode", "kimi", "cline", *OTHERS) if FULL else ("pi",)


@pytest.fixture(params=NAMES)
def agent(request: pytest.FixtureRequest) -> str:
    """The name of an agent whose program is installed."""
    name = str(request.param)
    if not (CLIENTS / "bin" / AGENTS[name].command[0]).exists():
        pytest.skip(f"{name} is not in {CLIENTS}: `make agents` installs it")
    return name


def prepared(live: LiveProject, name: str, url: str) -> None:
    """Point the client at the model, and give the project two tasks; one to a client that writes one file only."""
    if name in OTHERS:
        live.env.update(OTHERS[name][0](url, live))
    else:
        live.env.update(SCRIPTED_CLIENTS[name].launch(url, live.settings).env)
    live.write("samuel.toml", CONFIG.format(name=name))
    tasks = ("First",) if name == "aider" else ("First", "Second")
    prd = live.write("prd.md", "".join(f"- [ ] {number} {title}\n" for number, title in enumerate(tasks, 1)))
    live.samuel("run", "init", "--prd", Path(prd).name, "--no-commit")
    live.samuel("trust", "--yes")


def steps(name: str) -> tuple[Step, ...]:
    if name in OTHERS:
        return OTHERS[name][1]
    return SCRIPTED_CLIENTS[name].shell(COMMAND), FinalText("All finished.")


@pytest.mark.live
@pytest.mark.slow
def test_an_agent_completes_its_tasks_in_the_loop_and_its_tokens_are_counted(
    live: LiveProject, agent: str
) -> None:
    with ModelServer(steps(agent)) as model:
        prepared(live, agent, model.url)
        ran = live.samuel("run", "start", "--iterations", "4", expected=None)
    tasks = live.answer("run", "tasks")
    assert {task["status"] for task in tasks} == {"completed"}, ran.stdout + ran.stderr
    usage = live.answer("run", "status")["usage"]
    assert ("input_tokens" in usage) == (agent not in UNCOUNTED), ran.stdout
