"""Gemini CLI, by Google."""

from __future__ import annotations

import re
from typing import Any

from samuel.base.clock import SystemClock
from samuel.clients.adapter.agent import Agent, AgentHome
from samuel.clients.adapter.counts import count, table, tally
from samuel.clients.adapter.ending import EndingKind
from samuel.clients.adapter.stream import LONGEST_LINE, JsonStream, Now, records
from samuel.clients.adapter.tool_words import tool_words
from samuel.clients.adapter.trouble import reported

_RETRY = re.compile(rb"Attempt \d+ failed with status (\d{3})\b")


class GeminiStream(JsonStream):
    """`-o stream-json`, a record a line; or `-o json`, one document over many lines after a greeting."""

    def __init__(self, now: Now = SystemClock.now) -> None:
        super().__init__(now)
        self._document: bytearray | None = None

    def feed(self, line: bytes) -> None:
        if self._document is None and line.strip() == b"{":
            self._document = bytearray()
        if self._document is None:
            super().feed(line)
        elif len(self._document) < LONGEST_LINE:
            self._document += line
            if line.rstrip() == b"}":
                for record in records(bytes(self._document)):
                    self._read_document(record)

    def feed_error(self, line: bytes) -> None:
        """It tries again in silence, but for a line on stderr: `Attempt 1 failed with status 429. Retrying ...`"""
        if retry := _RETRY.match(line):
            self.problem = reported(line.decode("utf-8", "replace"), self.now(), status=retry[1].decode())

    def read(self, record: dict[str, Any]) -> None:
        match record.get("type"):
            case "message" if record.get("role") == "assistant":
                self.problem = None
                self.say_more(record.get("content"))
            case "tool_use":
                self.problem = None
                self.end_text()
                self.activity = tool_words(record.get("tool_name"), record.get("parameters"))
                self.called(record.get("tool_id"), record.get("tool_name"))
            case "error" if record.get("severity") != "warning":
                self.problem = reported(record.get("message"), self.now(), details=record)
            case "result":
                self._result(record)

    def _result(self, record: dict[str, Any]) -> None:
        stats = table(record.get("stats"))
        usage = tally([(stats.get("input_tokens"), stats.get("output_tokens"), stats.get("cached"))])
        self.usage = usage or self.usage
        self._end(table(record.get("error")), failed=record.get("status") == "error")

    def _read_document(self, record: dict[str, Any]) -> None:
        models = table(table(record.get("stats")).get("models"))
        tokens = [table(table(model).get("tokens")) for model in models.values()]
        self.usage = tally(
            (each.get("prompt"), count(each.get("candidates")) + count(each.get("thoughts")), each.get("cached"))
            for each in tokens
        )
        self.say(record.get("response"))
        self._end(table(record.get("error")), failed="error" in record)

    def _end(self, error: dict[str, Any], *, failed: bool) -> None:
        if not failed:
            self.problem = None
        elif error:
            code = error.get("type")
            self.problem = reported(
                error.get("message"), self.now(), status=error.get("code"), code=code, details=error
            )


# It exits with a number of its own for a missing login, and else with the status of HTTP, of which the system
# keeps the lowest eight bits.
_EXIT_KINDS = {
    41: EndingKind.UNAUTHORISED,
    401 % 256: EndingKind.UNAUTHORISED,
    403 % 256: EndingKind.UNAUTHORISED,
    **{status % 256: EndingKind.OVERLOADED for status in (429, 500, 502, 503, 504, 529)},
}

AGENT = Agent(
    name="gemini",
    # Without --skip-trust, `yolo` asks again in a folder that was not trusted interactively.
    command=("gemini", "--approval-mode", "yolo", "--skip-trust", "-o", "stream-json"),
    env=(
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL"),
        *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
        *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS"),
    ),
    homes=(
        AgentHome(
            "", ".gemini", ("settings.json", "oauth_creds.json", "google_accounts.json", ".env", "GEMINI.md")
        ),
    ),
    version=("gemini", "--version"),
    install="npm install -g @google/gemini-cli",
    checked="0.61.0",
    stream=GeminiStream,
    hooks="gemini",
    exit_kinds=_EXIT_KINDS,
)
