"""The readers of agents' output, by the name that `stream` in samuel.toml has for them."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.clients.adapter.stream import PlainStream, StreamFactory
from samuel.clients.agy.adapter import AgyStream
from samuel.clients.aider.adapter import AiderStream
from samuel.clients.claude.adapter import ClaudeStream
from samuel.clients.cline.adapter import ClineStream
from samuel.clients.codex.adapter import CodexStream
from samuel.clients.copilot.adapter import CopilotStream
from samuel.clients.gemini.adapter import GeminiStream
from samuel.clients.goose.adapter import GooseStream
from samuel.clients.kimi.adapter import KimiStream
from samuel.clients.mini_swe_agent.adapter import MiniStream
from samuel.clients.opencode.adapter import OpencodeStream
from samuel.clients.pi.adapter import PiStream
from samuel.clients.qwen.adapter import QwenStream

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
