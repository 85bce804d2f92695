"""The readers of agents' output, by the names that `stream` in samuel.toml has for them."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.clients.adapter.stream import PlainStream, StreamFactory
from samuel.clients.table import AGENTS

PLAIN = "plain"
STREAMS: Mapping[str, StreamFactory] = {
    **{name: agent.stream for name, agent in AGENTS.items()},
    PLAIN: PlainStream,
}
