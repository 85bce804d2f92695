"""goose, by Block. As documented for 1.35: it cannot be installed from a registry."""

from __future__ import annotations

import re
from typing import Any

from samuel.clients.adapter.agent import PROVIDER_KEYS, Agent, AgentHome
from samuel.clients.adapter.counts import table, tables, tally, text_of
from samuel.clients.adapter.stream import JsonStream
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported

# An error of the provider is a message of its own, in these words; it exits with 0 after it.
_PROVIDER_ERROR = re.compile(
    r"\ARan into this error: (?P<error>.*)\.\s+"
    r"Please retry if you think this is a transient or recoverable error\.\Z",
    re.DOTALL,
)


class GooseStream(JsonStream):
    """`goose run --output-format stream-json`: messages, errors, and `complete` with the counts of the session."""

    def read(self, record: dict[str, Any]) -> None:
        match record.get("type"):
            case "message":
                self._message(table(record.get("message")))
            case "error":
                self.problem = reported(record.get("error"), self.now())
            case "complete":
                self.usage = tally([(record.get("input_tokens"), record.get("output_tokens"), 0)])

    def _message(self, message: dict[str, Any]) -> None:
        if message.get("role") != "assistant":
            self.end_text()
            return
        text = text_of(message.get("content"))
        if failure := _PROVIDER_ERROR.match(text.strip()):
            self.problem = reported(failure["error"], self.now())
            return
        self.problem = None
        if text:
            self.say_more(text)
        for part in tables(message.get("content")):
            if part.get("type") == "toolRequest":
                call = table(table(part.get("toolCall")).get("value"))
                name = call.get("name")
                # `developer__shell`: the extension, and its tool.
                self.activity = tool_words(str(name).rpartition("__")[2] if name else name, call.get("arguments"))


AGENT = Agent(
    name="goose",
    command=("goose", "run", "--no-session", "--quiet", "--output-format", "stream-json", "-i", "-"),
    env=(
        *PROVIDER_KEYS,
        *("GOOSE_PROVIDER", "GOOSE_MODEL", "GOOSE_MAX_TURNS", "GOOSE_DISABLE_KEYRING", "GOOSE_PATH_ROOT"),
        *("OPENAI_HOST", "OPENAI_BASE_PATH", "ANTHROPIC_HOST", "OLLAMA_HOST"),
        *("DATABRICKS_HOST", "DATABRICKS_TOKEN"),
    ),
    variables={"GOOSE_MODE": "auto"},  # a person's own setting may be to ask
    homes=(
        AgentHome("", ".config/goose", ("config.yaml", "secrets.yaml", ".goosehints")),
        AgentHome("", ".local/share/goose", ()),
        AgentHome("", ".local/state/goose", ()),
    ),
    version=("goose", "--version"),
    install="curl -fsSL https://github.com/block/goose/releases/download/stable/download_cli.sh | bash",
    stream=GooseStream,
)
