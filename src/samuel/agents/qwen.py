"""Qwen Code, by Alibaba: an agent of samuel.toml whose output is understood."""

from __future__ import annotations

from typing import Any

from samuel.agents.claude import ClaudeStream
from samuel.agents.report import table
from samuel.agents.trouble import reported


class QwenStream(ClaudeStream):
    """`-o stream-json` or `-o json`: claude's records, but for an error that is an object."""

    def read(self, record: dict[str, Any]) -> None:
        super().read(record)
        error = table(record.get("error"))
        if record.get("type") == "result" and record.get("is_error") is True and error:
            code = error.get("type") or error.get("code")
            self.problem = reported(error.get("message"), self.now(), code=code, details=error)
