"""Copilot CLI, by GitHub. Without `-p` it takes the prompt from stdin."""

from __future__ import annotations

from typing import Any

from samuel.clients.adapter.agent import USAGE_FILE, Agent, AgentHome
from samuel.clients.adapter.counts import added, table, tally
from samuel.clients.adapter.stream import JsonStream
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported


class CopilotStream(JsonStream):
    """`--output-format json`: events with their `data`. Tokens are in its usage file, written at the end."""

    def read(self, record: dict[str, Any]) -> None:
        data = table(record.get("data"))
        match record.get("type"):
            case "assistant.message_start":
                self.end_text()
            case "assistant.message_delta":
                self.say_more(data.get("deltaContent"))
            case "assistant.message":
                self.problem = None
                self.say(data.get("content"))
            case "tool.execution_start":
                self.activity = tool_words(data.get("toolName"), data.get("arguments"))
                self.called(data.get("toolCallId"), data.get("toolName"), data.get("parentToolCallId"))
            case "assistant.usage":
                counts = (data.get("inputTokens"), data.get("outputTokens"), data.get("cacheReadTokens"))
                self.usage = added(self.usage, tally([counts]))
            case "model.call_failure":
                status, text = data.get("statusCode"), data.get("errorMessage") or data.get("message")
                self.problem = reported(text or f"HTTP {status}", self.now(), status=status)
            case "session.error":
                status, code = data.get("statusCode"), data.get("errorType")
                self.problem = reported(data.get("message"), self.now(), status=status, code=code)
            case None if "modelMetrics" in record:
                self._usage_file(table(record.get("modelMetrics")))

    def _usage_file(self, models: dict[str, Any]) -> None:
        counts = [table(table(model).get("usage")) for model in models.values()]
        self.usage = tally(
            (each.get("inputTokens"), each.get("outputTokens"), each.get("cacheReadTokens")) for each in counts
        )


AGENT = Agent(
    name="copilot",
    command=(
        *("copilot", "--allow-all-tools", "--no-ask-user", "--no-auto-update", "--no-color"),
        *("--output-format", "json", f"--usage-output-file={USAGE_FILE}"),
    ),
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
    stream=CopilotStream,
    hooks="copilot",
    usage_file=True,
)
