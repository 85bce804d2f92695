"""Aider. It edits files and runs no shell, so its clean exit is the claim."""

from __future__ import annotations

import re

from samuel.clients.adapter.agent import PROMPT_FILE, PROVIDER_KEYS, Agent, AgentHome
from samuel.clients.adapter.counts import added, tally
from samuel.clients.adapter.stream import PlainStream
from samuel.clients.adapter.tool_words import action
from samuel.clients.adapter.trouble import litellm_problem

_TOKENS = re.compile(
    r"Tokens: (?P<sent>[\d.]+[kM]?) sent(?:, (?P<stored>[\d.]+[kM]?) cache write)?"
    r"(?:, (?P<cached>[\d.]+[kM]?) cache hit)?(?:, (?P<received>[\d.]+[kM]?) received)?\."
    r"(?: Cost: \$(?P<cost>[\d.]+) message)?"
)
_FAILURE = re.compile(r"litellm\.(?P<error>\w+): (?P<message>.*)")
_UNITS = {"k": 1000, "M": 1_000_000}


class AiderStream(PlainStream):
    """Text. A line after each answer has its tokens and its cost; an error of the service is a line, too."""

    def feed(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").strip()
        if tokens := _TOKENS.match(text):
            self.problem = None  # it got an answer
            sent, stored, cached, received = (
                _number(tokens[name]) for name in ("sent", "stored", "cached", "received")
            )
            cost = float(tokens["cost"]) if tokens["cost"] else None
            self.usage = added(self.usage, tally([(sent + stored + cached, received, cached)], cost))
        elif failure := _FAILURE.match(text):
            self.problem = litellm_problem(failure["error"], failure["message"], self.now())
        elif text.startswith("Applied edit to "):
            self.activity = action("edits", text.removeprefix("Applied edit to "))
        else:
            super().feed(line)


def _number(text: str | None) -> int:
    """`2.1k` is 2100: that is all it prints."""
    if not text:
        return 0
    unit = _UNITS.get(text[-1], 1)
    return round(float(text.rstrip("kM")) * unit)


AGENT = Agent(
    name="aider",
    command=(
        *("aider", "--message-file", PROMPT_FILE, "--yes-always"),
        *("--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-suggest-shell-commands"),
        *("--no-detect-urls", "--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"),
        *("--no-analytics", "--no-pretty", "--no-stream", "--no-fancy-input"),
        *("--input-history-file", "/dev/null", "--chat-history-file", "/dev/null"),
    ),
    prompt="file",
    claim="exit",
    own_files=(".aider*",),
    env=(
        *PROVIDER_KEYS,
        *("AIDER_MODEL", "AIDER_WEAK_MODEL", "AIDER_EDITOR_MODEL", "AIDER_EDIT_FORMAT", "AIDER_API_KEY"),
        *("OPENAI_API_BASE", "ANTHROPIC_API_BASE", "AZURE_API_KEY", "AZURE_API_BASE", "AZURE_API_VERSION"),
    ),
    variables={"COLUMNS": "4096"},  # else it breaks its lines at 80 characters, also those that are read here
    homes=(AgentHome("", ".aider", ("oauth-keys.env",)),),
    version=("aider", "--version"),
    install="python -m pip install aider-install && aider-install",
    checked="0.86.2",
    stream=AiderStream,
)
