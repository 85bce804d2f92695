"""The readers of agents' output, by the name that `stream` in samuel.toml has for them."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.agents.agy import AgyStream
from samuel.agents.aider import AiderStream
from samuel.agents.claude import ClaudeStream
from samuel.agents.cline import ClineStream
from samuel.agents.codex import CodexStream
from samuel.agents.copilot import CopilotStream
from samuel.agents.gemini import GeminiStream
from samuel.agents.goose import GooseStream
from samuel.agents.kimi import KimiStream
from samuel.agents.mini_swe_agent import MiniStream
from samuel.agents.opencode import OpencodeStream
from samuel.agents.pi import PiStream
from samuel.agents.qwen import QwenStream
from samuel.agents.stream import PlainStream, StreamFactory

PLAIN = "plain"

STREAMS: Mapping[str, StreamFactory] = {
    "claude": ClaudeStream,
    "codex": CodexStream,
    "gemini": GeminiStream,
    "copilot": CopilotStream,
    "qwen": QwenStream,
    "opencode": OpencodeStream,
    "cline": ClineStream,
    "pi": PiStream,
    "kimi": KimiStream,
    "aider": AiderStream,
    "mini-swe-agent": MiniStream,
    "agy": AgyStream,
    "goose": GooseStream,
    "scripted": ClaudeStream,
    PLAIN: PlainStream,
}


def stream_for(name: str, agent: str) -> StreamFactory:
    """The reader of this name; without a name the one of the agent's own name, if there is one."""
    return STREAMS[name] if name else STREAMS.get(agent, PlainStream)
