"""All agents by name. A name in samuel.toml wins over one that Samuel ships."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from pathlib import Path

from samuel.agents import claude, codex, copilot, gemini, kiro
from samuel.agents.agent import Agent
from samuel.agents.configured import configured
from samuel.config.model import AgentSettings
from samuel.errors import UsageError
from samuel.paths import SCRIPTED

STEPS = SCRIPTED
"""Where the scripted agent of this name finds its steps; `scripted(directory)` is one with others."""


def scripted(directory: str | Path) -> Agent:
    """The shipped fake. It reports usage as claude does, so the same parser reads it."""
    # -P: a folder `samuel` in the project is not the package.
    return Agent(
        name="scripted",
        command=(sys.executable, "-P", "-m", "samuel.agents.scripted", str(directory)),
        usage=claude.usage,
    )


AGENTS: Mapping[str, Agent] = {
    agent.name: agent
    for agent in (claude.AGENT, codex.AGENT, gemini.AGENT, copilot.AGENT, kiro.AGENT, scripted(STEPS))
}

CHECKED: Mapping[str, str] = {
    name: agent.checked or "as documented, not checked" for name, agent in AGENTS.items() if agent.version
}
"""The version of each program that its adapter was checked against; the README's table shows it."""


def find(name: str, settings: Mapping[str, AgentSettings]) -> Agent:
    if name in settings:
        return configured(settings[name])
    if name in AGENTS:
        return AGENTS[name]
    known = sorted({*AGENTS, *settings})
    near = difflib.get_close_matches(name, known, 1)
    raise UsageError(
        f"There is no agent `{name}`." + (f" Did you mean `{near[0]}`?" if near else ""),
        f"There are: {', '.join(known)}; [agents.{name}] in samuel.toml makes another.",
    )
