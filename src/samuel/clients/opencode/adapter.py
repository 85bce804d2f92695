"""opencode, by SST. It takes the prompt from stdin when there is no message among its arguments."""

from __future__ import annotations

from typing import Any

from samuel.clients.adapter.agent import PROVIDER_KEYS, Agent, AgentHome
from samuel.clients.adapter.counts import added, count, table, tally
from samuel.clients.adapter.stream import JsonStream
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported


class OpencodeStream(JsonStream):
    """`opencode run --format json`. A step's input does not include what came from the cache."""

    def read(self, record: dict[str, Any]) -> None:
        part = table(record.get("part"))
        match record.get("type"):
            case "text":
                self.problem = None
                self.say(part.get("text"))
            case "tool_use":
                self.problem = None
                self.activity = tool_words(part.get("tool"), table(part.get("state")).get("input"))
                self.called(part.get("callID"), part.get("tool"))
            case "step_finish":
                self.problem = None
                self._step(table(part.get("tokens")), part.get("cost"))
            case "error":
                self._error(record.get("error"))

    def _step(self, tokens: dict[str, Any], cost: object) -> None:
        cache = table(tokens.get("cache"))
        read, stored = count(cache.get("read")), count(cache.get("write"))
        output = count(tokens.get("output")) + count(tokens.get("reasoning"))
        self.usage = added(self.usage, tally([(count(tokens.get("input")) + read + stored, output, read)], cost))

    def _error(self, error: object) -> None:
        fields = table(error)
        data = table(fields.get("data"))
        message = data.get("message") or fields.get("message") or (error if isinstance(error, str) else "")
        self.problem = reported(
            message, self.now(), status=data.get("statusCode"), code=fields.get("name"), details=data
        )


AGENT = Agent(
    name="opencode",
    command=("opencode", "run", "--format", "json", "--auto"),
    env=(*PROVIDER_KEYS, "OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT"),
    variables={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
    homes=(
        AgentHome("OPENCODE_CONFIG_DIR", ".config/opencode", ("opencode.json", "opencode.jsonc", "AGENTS.md")),
        AgentHome("", ".local/share/opencode", ("auth.json",)),
        AgentHome("", ".local/state/opencode", ()),
        AgentHome("", ".cache/opencode", ()),
    ),
    version=("opencode", "--version"),
    install="npm install -g opencode-ai",
    checked="1.18.33",
    stream=OpencodeStream,
    hooks="opencode",
)
