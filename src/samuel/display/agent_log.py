"""The log of an agent: its bytes, how they are read, and what the agent said last."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from samuel import config
from samuel.agents.find_agent import find
from samuel.base import paths
from samuel.base.clock import SystemClock
from samuel.base.errors import SamuelError
from samuel.clients.adapter.stream import LineSplitter, PlainStream, StreamFactory
from samuel.files.inside import open_inside

CHUNK = 1024 * 1024
MOST_CHUNKS = 64


def stream_of(root: Path, agent: str) -> StreamFactory:
    """How the output of an agent is read; as plain text if samuel.toml does not have this agent any more."""
    try:
        return find(agent, config.load(root / paths.CONFIG).agents).stream
    except SamuelError:
        return PlainStream


def log_chunks(state: Path, path: Path, position: int = 0) -> Iterator[bytes]:
    """What is in a log from a position on, or its last bytes if that is negative; nothing without the file."""
    try:
        fd = open_inside(state, str(path.relative_to(state)), flags=os.O_RDONLY)
    except FileNotFoundError:
        return
    with open(fd, "rb") as log_file:
        if position < 0:
            position = max(log_file.seek(0, os.SEEK_END) + position, 0)
        log_file.seek(position)
        for _ in range(MOST_CHUNKS):
            if not (chunk := log_file.read(CHUNK)):
                return
            yield chunk


def last_words(state: Path, path: Path, factory: StreamFactory) -> str:
    """The last message of the agent that wrote this log; "" if it said nothing."""
    stream = factory(SystemClock.now)
    splitter = LineSplitter(stream.feed)
    for chunk in log_chunks(state, path, -CHUNK):
        splitter.feed(chunk)
    splitter.close()
    return stream.words.strip()
