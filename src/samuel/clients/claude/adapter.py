"""Claude Code, by Anthropic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from samuel.base.clock import SystemClock
from samuel.clients.adapter.agent import Agent, ProcessFacts
from samuel.clients.adapter.counts import MessageCounts, added, count, table, tables, tally, text_of
from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.clients.adapter.reset_time import as_seconds
from samuel.clients.adapter.stream import AgentUsage, JsonStream, Now
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported
from samuel.clients.promises import BUDGET, SUBAGENT_TEXT, keeps

_OF_ALL = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_OVER_BUDGET = "error_max_budget_usd"
_OF_MAIN = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class ClaudeStream(JsonStream):
    """`--output-format stream-json`.

    Each message has its own counts; the `result` at the end has those of the whole session, with the cost.
    """

    counts_cache_apart = True
    """True if the count of its input does not include what came from the cache."""

    def __init__(self, now: Now = SystemClock.now) -> None:
        super().__init__(now)
        self._session: AgentUsage = {}  # as of the last result
        self._messages = MessageCounts()  # since then
        self._limit: AgentEnding | None = None

    def read(self, record: dict[str, Any]) -> None:
        match record.get("type"):
            case "assistant":
                self._message(record, table(record.get("message")))
            case "rate_limit_event":
                self._rate_limit(table(record.get("rate_limit_info")))
            case "system" if record.get("subtype") == "api_retry":
                self._retry(record)
            case "result":
                self._result(record)

    def _message(self, record: dict[str, Any], message: dict[str, Any]) -> None:
        text = text_of(message.get("content"))
        if error := record.get("error"):  # not of the model: the client put it there
            self.problem = self._limit or reported(text, self.now(), code=error)
            return
        self.problem = self._limit  # it got an answer
        usage = self._messages.add(message.get("id"), self._entry(table(message.get("usage")), _OF_MAIN))
        self.usage = added(self._session, usage)
        if not record.get("parent_tool_use_id"):  # what a subagent says is no answer to the prompt
            self.say(text)
        for part in tables(message.get("content")):
            if part.get("type") == "tool_use":
                self.activity = tool_words(part.get("name"), part.get("input"))
                self.called(part.get("id"), part.get("name"), record.get("parent_tool_use_id"))

    def _rate_limit(self, info: dict[str, Any]) -> None:
        if info.get("status") != "rejected":
            return
        period = info.get("rateLimitType")
        which = f" ({period.replace('_', ' ')})" if isinstance(period, str) else ""
        resets_at = as_seconds(info.get("resetsAt")) or None
        self.problem = self._limit = AgentEnding(EndingKind.LIMITED, f"usage limit reached{which}", resets_at)

    def _retry(self, record: dict[str, Any]) -> None:
        status, error = record.get("error_status"), record.get("error")
        words = f"API error {status or ''} {error if isinstance(error, str) else ''}"
        self.problem = self._limit or reported(" ".join(words.split()), self.now(), status=status)

    def _result(self, record: dict[str, Any]) -> None:
        # `modelUsage` counts every request, `usage` only those of the main conversation; the cost is of all.
        models = table(record.get("modelUsage")).values()
        entries = [self._entry(table(model), _OF_ALL) for model in models]
        entries = entries or [self._entry(table(record.get("usage")), _OF_MAIN)]
        if usage := tally(entries, record.get("total_cost_usd")):
            self.usage, self._session, self._messages = usage, usage, MessageCounts()
        if record.get("is_error") is not True:
            self.problem = self._limit = None
            return
        if record.get("subtype") == _OVER_BUDGET:
            self.problem = AgentEnding(EndingKind.OVER_BUDGET, f"it reached the limit of `{BUDGET}`")
            return
        texts = [record.get("result"), record.get("error"), *_strings(record.get("errors"))]
        text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
        subtype = record.get("subtype") if record.get("subtype") != "success" else ""
        problem = reported(text, self.now(), status=record.get("api_error_status"), code="" if text else subtype)
        if self._limit and problem.kind in (EndingKind.LIMITED, EndingKind.OVERLOADED, EndingKind.CRASHED):
            reason = problem.reason or self._limit.reason
            problem = AgentEnding(EndingKind.LIMITED, reason, self._limit.resets_at or problem.resets_at)
        self.problem = problem

    def _entry(self, counts: dict[str, Any], names: tuple[str, ...]) -> tuple[int, int, int]:
        read, output, cached, stored = (count(counts.get(name)) for name in names)
        return read + (cached + stored if self.counts_cache_apart else 0), output, cached


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


_LEAST_USD = 0.0001  # it takes no limit of nothing; Samuel starts no agent without a budget
_REPORT = ("--output-format", "stream-json", "--verbose")


def limited(tools: Sequence[str]) -> tuple[str, ...]:
    """The argv for these tools only. Anything else is denied: no person is there to ask."""
    tool_names = dict.fromkeys(tool.partition("(")[0] for tool in tools)
    # With `=`: the name of a tool can then never be read as an option.
    allowed = (f"--tools={','.join(tool_names)}", f"--allowedTools={','.join(tools)}", "--permission-mode=dontAsk")
    return ("claude", "-p", *(word for word in allowed if word != "--allowedTools="), *_REPORT)


def options(facts: ProcessFacts) -> tuple[str, ...]:
    """What subagents say, and a second limit behind Samuel's own, where the version has both."""
    forward = (SUBAGENT_TEXT,) if keeps("claude", SUBAGENT_TEXT, facts.version) else ()
    if facts.budget_usd is None or not keeps("claude", BUDGET, facts.version):
        return forward
    return (*forward, BUDGET, f"{max(facts.budget_usd, _LEAST_USD):.4f}")


AGENT = Agent(
    name="claude",
    command=("claude", "-p", "--dangerously-skip-permissions", *_REPORT),
    options=options,
    limited=limited,
    env=(
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"),
        *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"),
        # As root it refuses to skip permissions, unless told that it is fenced in: by its user, for a container,
        "IS_SANDBOX",
    ),
    confined={"IS_SANDBOX": "1"},  # or by us
    version=("claude", "--version"),
    install="npm install -g @anthropic-ai/claude-code",
    checked="2.1.326",
    stream=ClaudeStream,
    hooks="claude",
)
