"""Codex, by OpenAI."""

from __future__ import annotations

from collections.abc import Iterable

from samuel.agents.agent import Agent, AgentHome, AgentUsage
from samuel.agents.report import objects, table, tally


def usage(lines: Iterable[bytes]) -> AgentUsage:
    """The sum over turns. Its input includes what came from the cache, its output the reasoning."""
    turns = (table(turn.get("usage")) for turn in objects(lines, "turn.completed"))
    return tally(
        (turn.get("input_tokens"), turn.get("output_tokens"), turn.get("cached_input_tokens")) for turn in turns
    )


AGENT = Agent(
    name="codex",
    command=("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "-"),
    env=("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_HOME"),
    homes=(AgentHome("CODEX_HOME", ".codex", ("auth.json", "config.toml", "AGENTS.md")),),
    version=("codex", "--version"),
    install="npm install -g @openai/codex",
    checked="0.166.0",
    usage=usage,
)
