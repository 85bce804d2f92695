"""Claude Code, by Anthropic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from samuel.agents.agent import Agent, AgentUsage
from samuel.agents.report import count, objects, table, tally

_OF_ALL = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_OF_MAIN = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def usage(lines: Iterable[bytes]) -> AgentUsage:
    """From the last `result`: its numbers are the session's so far.

    `modelUsage` counts every request, `usage` only those of the main conversation; the cost is of all.
    """
    usage: AgentUsage = {}
    for result in objects(lines, "result"):
        models = table(result.get("modelUsage")).values()
        entries = [_entry(table(model), _OF_ALL) for model in models]
        entries = entries or [_entry(table(result.get("usage")), _OF_MAIN)]
        usage = tally(entries, result.get("total_cost_usd"))
    return usage


def _entry(counts: dict[str, Any], names: tuple[str, ...]) -> tuple[int, int, int]:
    read, output, cached, stored = (count(counts.get(name)) for name in names)
    return read + cached + stored, output, cached


_REPORT = ("--output-format", "stream-json", "--verbose")


def limited(tools: Sequence[str]) -> tuple[str, ...]:
    """The argv for these tools only. Anything else is denied: no person is there to ask."""
    tool_names = dict.fromkeys(tool.partition("(")[0] for tool in tools)
    # With `=`: the name of a tool can then never be read as an option.
    allowed = (f"--tools={','.join(tool_names)}", f"--allowedTools={','.join(tools)}", "--permission-mode=dontAsk")
    return ("claude", "-p", *(word for word in allowed if word != "--allowedTools="), *_REPORT)


AGENT = Agent(
    name="claude",
    command=("claude", "-p", "--dangerously-skip-permissions", *_REPORT),
    limited=limited,
    env=(
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"),
        *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"),
    ),
    confined={"IS_SANDBOX": "1"},  # as root it refuses to skip permissions, unless told that it is fenced in
    version=("claude", "--version"),
    install="npm install -g @anthropic-ai/claude-code",
    checked="2.1.197",
    usage=usage,
)
