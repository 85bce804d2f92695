"""pi, by Mario Zechner."""

from __future__ import annotations

from typing import Any

from samuel.clients.adapter.agent import PROVIDER_KEYS, Agent, AgentHome
from samuel.clients.adapter.counts import added, count, table, tally, text_of
from samuel.clients.adapter.stream import JsonStream
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported


class PiStream(JsonStream):
    """`pi --mode json`. Each message has its own counts; its input does not include what came from the cache."""

    def read(self, record: dict[str, Any]) -> None:
        match record.get("type"):
            case "message_end" if table(record.get("message")).get("role") == "assistant":
                self._message(table(record.get("message")))
            case "tool_execution_start":
                self.activity = tool_words(record.get("toolName"), record.get("args"))
            case "auto_retry_start":
                self.problem = reported(record.get("errorMessage"), self.now())
            case "auto_retry_end" if record.get("success") is False:
                self.problem = reported(record.get("finalError"), self.now())

    def _message(self, message: dict[str, Any]) -> None:
        tokens = table(message.get("usage"))
        cached = count(tokens.get("cacheRead"))
        read = count(tokens.get("input")) + cached + count(tokens.get("cacheWrite"))
        cost = table(tokens.get("cost")).get("total")
        self.usage = added(self.usage, tally([(read, tokens.get("output"), cached)], cost))
        if message.get("stopReason") == "error":
            self.problem = reported(message.get("errorMessage"), self.now())
        else:
            self.problem = None
            self.say(text_of(message.get("content")))


AGENT = Agent(
    name="pi",
    command=("pi", "-p", "--mode", "json", "--no-session"),
    env=(
        *PROVIDER_KEYS,
        *("ANTHROPIC_OAUTH_TOKEN", "KIMI_API_KEY", "ZAI_API_KEY", "CEREBRAS_API_KEY", "FIREWORKS_API_KEY"),
        *("AI_GATEWAY_API_KEY", "PI_CODING_AGENT_DIR", "PI_OFFLINE"),
    ),
    homes=(
        AgentHome(
            "PI_CODING_AGENT_DIR",
            ".pi/agent",
            ("auth.json", "models.json", "settings.json", "AGENTS.md", "extensions", "skills", "prompts"),
        ),
    ),
    version=("pi", "--version"),
    install="npm install -g @mariozechner/pi-coding-agent",
    checked="0.73.1",
    stream=PiStream,
)
