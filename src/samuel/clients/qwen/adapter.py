"""Qwen Code, by Alibaba."""

from __future__ import annotations

import re
from typing import Any

from samuel.clients.adapter.agent import Agent, AgentHome
from samuel.clients.adapter.counts import table
from samuel.clients.adapter.trouble import reported
from samuel.clients.claude.adapter import ClaudeStream

_RETRY = re.compile(r"Retrying in \S+ \(attempt \d+/\d+\): \[?(?P<message>.*?)\]?\s*$")


class QwenStream(ClaudeStream):
    """`-o stream-json` or `-o json`: claude's records, but for an error that is an object."""

    counts_cache_apart = False

    def feed_error(self, line: bytes) -> None:
        """`Retrying in 240s (attempt 3/10): [API Error: 429 ...]`: it tries for half an hour."""
        if retry := _RETRY.match(line.decode("utf-8", "replace")):
            self.problem = reported(retry["message"], self.now())

    def read(self, record: dict[str, Any]) -> None:
        super().read(record)
        error = table(record.get("error"))
        if record.get("type") == "result" and record.get("is_error") is True and error:
            code = error.get("type") or error.get("code")
            message = str(error.get("message") or "").strip("[]")  # `[API Error: 401 ...]`
            self.problem = reported(message, self.now(), code=code, details=error)


AGENT = Agent(
    name="qwen",
    command=("qwen", "--approval-mode", "yolo", "-o", "stream-json"),
    env=(
        *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY"),
        *("BAILIAN_CODING_PLAN_API_KEY", "QWEN_HOME"),
    ),
    variables={"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"},
    homes=(AgentHome("QWEN_HOME", ".qwen", ("settings.json", "oauth_creds.json", ".env", "QWEN.md")),),
    version=("qwen", "--version"),
    install="npm install -g @qwen-code/qwen-code",
    checked="0.24.4",
    stream=QwenStream,
    hooks="qwen",
)
