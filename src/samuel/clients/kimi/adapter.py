"""Kimi Code, by Moonshot AI. It takes a prompt only as an argument, and has no count of tokens."""

from __future__ import annotations

import re
from typing import Any

from samuel.clients.adapter.agent import PROMPT, READ_PROMPT_FILE, Agent, AgentHome
from samuel.clients.adapter.counts import table, tables, text_of
from samuel.clients.adapter.stream import JsonStream, records
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported

_FAILURE = re.compile(r"error: failed to run prompt: (?P<code>[a-z_]+\.[a-z_.]+): (?P<message>.*)")
_STATUSES = {
    "provider.auth_error": 401,
    "provider.rate_limit": 429,
    "provider.overloaded": 529,
    "provider.connection_error": 0,
}


class KimiStream(JsonStream):
    """`-p ... --output-format stream-json`: messages with a role. How it failed is a line on stderr."""

    def feed_error(self, line: bytes) -> None:
        """`error: failed to run prompt: provider.auth_error: 401 ...`. It was a tool's if an answer follows."""
        if failure := _FAILURE.match(line.decode("utf-8", "replace")):
            code = failure["code"]
            self.problem = reported(
                failure["message"], self.now(), status=_STATUSES.get(code, 0), code=code.replace("_", " ")
            )

    def read(self, record: dict[str, Any]) -> None:
        if record.get("role") == "assistant":
            self.problem = None
            self.say(text_of(record.get("content")))
            for call in tables(record.get("tool_calls")):
                function = table(call.get("function"))
                arguments = function.get("arguments")
                if isinstance(arguments, str):
                    arguments = next(iter(records(arguments.encode(errors="replace"))), {})
                self.activity = tool_words(function.get("name"), arguments)
                self.called(call.get("id"), function.get("name"))
        elif record.get("type") == "error":
            error = table(record.get("error"))
            message = record.get("message") or error.get("message")
            self.problem = reported(message, self.now(), code=record.get("code"), details=record)


AGENT = Agent(
    name="kimi",
    # A prompt mode has no approvals: there is no flag for it, and `--auto` and `--yolo` are refused beside `-p`.
    command=("kimi", "--output-format", "stream-json", "-p", PROMPT),
    prompt="argument",
    long_prompt=READ_PROMPT_FILE,
    env=(
        *("KIMI_API_KEY", "KIMI_CODE_HOME", "KIMI_CODE_BASE_URL", "KIMI_MODEL_NAME", "KIMI_MODEL_API_KEY"),
        *("KIMI_MODEL_BASE_URL", "KIMI_MODEL_PROVIDER_TYPE", "KIMI_MODEL_MAX_CONTEXT_SIZE"),
    ),
    variables={"KIMI_CODE_NO_AUTO_UPDATE": "1"},
    homes=(AgentHome("KIMI_CODE_HOME", ".kimi-code", ("config.toml", "credentials", "AGENTS.md", "device_id")),),
    version=("kimi", "--version"),
    install="npm install -g @moonshot-ai/kimi-code",
    checked="2.1.0",
    stream=KimiStream,
    hooks="kimi",
)
