"""Kimi Code, by Moonshot AI: an agent of samuel.toml whose output is understood. It has no count of tokens."""

from __future__ import annotations

from typing import Any

from samuel.agents.report import table, tables, text_of
from samuel.agents.stream import JsonStream, records
from samuel.agents.trouble import reported
from samuel.agents.words import tool_words


class KimiStream(JsonStream):
    """`--print --output-format stream-json`: messages with a role."""

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
