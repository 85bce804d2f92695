"""Antigravity CLI, by Google. As documented for 1.1.8 and later: it cannot be installed from a registry."""

from __future__ import annotations

import json
from typing import Any

from samuel.clients.adapter.agent import Agent, AgentHome
from samuel.clients.adapter.counts import count, table, tally
from samuel.clients.adapter.ending import EndingKind
from samuel.clients.adapter.stream import JsonStream
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported


class AgyStream(JsonStream):
    """`--output-format stream-json`: the event's name, and its fields below the same name.

    The `result` has the counts of the whole turn. A refused permission leaves `SUCCESS` and a list of the actions.
    """

    def read(self, record: dict[str, Any]) -> None:
        match record.get("event"):
            case "step_update":
                self._step(table(record.get("step_update")))
            case "result":
                self._result(table(record.get("result")))

    def _step(self, step: dict[str, Any]) -> None:
        if step.get("step_type") == "agent_response":
            self.say_more(step.get("text_delta"))
            return
        self.end_text()
        tool = table(step.get("tool_info"))
        if name := step.get("tool_name") or tool.get("name"):
            self.activity = tool_words(name, tool.get("parameters"))

    def _result(self, result: dict[str, Any]) -> None:
        usage = table(result.get("usage"))
        cached = count(usage.get("cache_read_tokens"))
        self.usage = tally([(count(usage.get("input_tokens")) + cached, usage.get("output_tokens"), cached)])
        self.say(result.get("response"))
        failed = str(result.get("status")).upper() not in ("SUCCESS", "NONE")
        self.problem = reported(result.get("error"), self.now(), code=result.get("status")) if failed else None


def user_message(prompt: str) -> str:
    """A prompt as a line of `--input-format stream-json`."""
    return json.dumps({"event": "user", "message": {"content": prompt}}, ensure_ascii=False) + "\n"


AGENT = Agent(
    name="agy",
    # Without `-p`, which takes the next word as the prompt. Its own timeout, five minutes, looks like success.
    command=(
        *("agy", "--dangerously-skip-permissions", "--input-format", "stream-json"),
        *("--output-format", "stream-json", "--print-timeout", "24h"),
    ),
    stdin_form=user_message,
    env=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
    variables={"AGY_CLI_DISABLE_AUTO_UPDATE": "1"},
    homes=(
        AgentHome("", ".gemini/antigravity-cli", ("settings.json", "mcp_config.json")),
        AgentHome("", ".gemini/config", ("mcp_config.json", "plugins")),
    ),
    version=("agy", "--version"),
    install="curl -fsSL https://antigravity.google/cli/install.sh | bash",
    stream=AgyStream,
    exit_kinds={3: EndingKind.LIMITED},  # its quota ran out
)
