"""Copilot CLI, by GitHub. Without `-p` it takes the prompt from stdin; its output has no count of tokens."""

from __future__ import annotations

from samuel.agents.agent import Agent, AgentHome

AGENT = Agent(
    name="copilot",
    command=("copilot", "--allow-all-tools", "--no-ask-user", "--no-auto-update", "--no-color"),
    env=(
        *("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_HOME", "COPILOT_MODEL"),
        *("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_API_KEY", "COPILOT_OFFLINE"),
    ),
    homes=(
        AgentHome("COPILOT_HOME", ".copilot", ("config.json", "settings.json", "mcp-config.json")),
        AgentHome("", ".cache/copilot", ("pkg",)),
    ),
    version=("copilot", "--version"),
    install="npm install -g @github/copilot",
    checked="1.0.102",
)
