"""Cline CLI. It takes a prompt only as an argument."""

from __future__ import annotations

from typing import Any

from samuel.clients.adapter.agent import PROMPT, READ_PROMPT_FILE, Agent, AgentHome
from samuel.clients.adapter.counts import table, tally
from samuel.clients.adapter.stream import AgentUsage, JsonStream
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported


class ClineStream(JsonStream):
    """`cline --json`: the events of its agent, and a `run_result` with the usage at the end."""

    def read(self, record: dict[str, Any]) -> None:
        match record.get("type"):
            case "agent_event":
                self._event(table(record.get("event")) or table(table(record.get("payload")).get("event")))
            case "run_result":
                usage = table(record.get("aggregateUsage")) or table(record.get("usage"))
                self.usage = _usage(usage, "inputTokens", "outputTokens", "cacheReadTokens") or self.usage
                if record.get("finishReason") == "completed":
                    self.problem = None
                elif self.problem is None:
                    self.problem = reported(record.get("text"), self.now(), code=record.get("finishReason"))
            case "error":
                self.problem = reported(record.get("message"), self.now(), details=record)
            case "run_aborted":
                self.problem = self.problem or reported(record.get("message"), self.now())

    def _event(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "usage":
                self.problem = None
                names = ("totalInputTokens", "totalOutputTokens", "totalCacheReadTokens")
                self.usage = _usage(event, *names) or self.usage
            case "content_start" if event.get("contentType") == "tool":
                self.end_text()
                self.activity = tool_words(event.get("toolName"), event.get("input"))
                self.called(event.get("toolCallId"), event.get("toolName"))
            case "content_start" if event.get("contentType") == "text":
                self.say_more(event.get("text"))
            case "error":
                error = table(event.get("error"))
                code = event.get("errorClass")
                status = error.get("status") or (401 if code == "auth" else 0)
                self.problem = reported(error.get("message"), self.now(), status=status, code=code)


def _usage(fields: dict[str, Any], read: str, output: str, cached: str) -> AgentUsage:
    return tally([(fields.get(read), fields.get(output), fields.get(cached))], fields.get("totalCost"))


AGENT = Agent(
    name="cline",
    command=("cline", "--json", "--auto-approve", "true", PROMPT),
    prompt="argument",
    long_prompt=READ_PROMPT_FILE,
    env=("CLINE_API_KEY", "CLINE_DIR", "CLINE_DATA_DIR", "CLINE_PROVIDER_SETTINGS_PATH", "CLINE_ENVIRONMENT"),
    # Otherwise its tools run in a daemon that other sessions share: without the variables of this run, outside of
    # its sandbox, and after its end.
    variables={"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_NO_AUTO_UPDATE": "1"},
    homes=(AgentHome("CLINE_DIR", ".cline", ("data/settings", "rules", "hooks")),),
    version=("cline", "--version"),
    install="npm install -g cline",
    checked="3.0.65",
    stream=ClineStream,
    hooks="cline",
)
