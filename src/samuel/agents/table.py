"""All agents by name. A name in samuel.toml wins over one that Samuel ships."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from samuel.agents.configured import configured
from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.base.paths import SCRIPTED
from samuel.clients.adapter.agent import Agent
from samuel.clients.agy import adapter as agy
from samuel.clients.aider import adapter as aider
from samuel.clients.claude import adapter as claude
from samuel.clients.cline import adapter as cline
from samuel.clients.codex import adapter as codex
from samuel.clients.copilot import adapter as copilot
from samuel.clients.gemini import adapter as gemini
from samuel.clients.goose import adapter as goose
from samuel.clients.kimi import adapter as kimi
from samuel.clients.kiro import adapter as kiro
from samuel.clients.mini_swe_agent import adapter as mini_swe_agent
from samuel.clients.opencode import adapter as opencode
from samuel.clients.pi import adapter as pi
from samuel.clients.qwen import adapter as qwen
from samuel.config.model import AgentSettings

STEPS = SCRIPTED
"""Where the scripted agent of this name finds its steps; `scripted(directory)` is one with others."""


def scripted(directory: str | Path) -> Agent:
    """The shipped fake. It reports as claude does, so the same reader reads it."""
    # -P: a folder `samuel` in the project is not the package.
    return Agent(
        name="scripted",
        command=(sys.executable, "-P", "-m", "samuel.agents.scripted", str(directory)),
        stream=claude.ClaudeStream,
    )


AGENTS: Mapping[str, Agent] = {
    agent.name: agent
    for agent in (
        claude.AGENT,
        codex.AGENT,
        gemini.AGENT,
        copilot.AGENT,
        kiro.AGENT,
        qwen.AGENT,
        opencode.AGENT,
        kimi.AGENT,
        cline.AGENT,
        pi.AGENT,
        aider.AGENT,
        mini_swe_agent.AGENT,
        agy.AGENT,
        goose.AGENT,
        scripted(STEPS),
    )
}

CHECKED: Mapping[str, str] = {
    name: agent.checked or "as documented, not checked" for name, agent in AGENTS.items() if agent.version
}
"""The version of each program that its adapter was checked against; the README's table shows it."""


def find(name: str, settings: Mapping[str, AgentSettings]) -> Agent:
    if name in settings and (settings[name].command or name not in AGENTS):
        return configured(settings[name])
    if name in AGENTS:
        return AGENTS[name]
    names = sorted({*AGENTS, *settings})
    others = f"the agents are {', '.join(names)}; add your own as [agents.{name}] in samuel.toml"
    raise UsageError(f"there is no agent `{name}`", did_you_mean(name, names, others))
