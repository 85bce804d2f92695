"""The scripted agent. It reports as claude does, so the same reader reads it."""

from __future__ import annotations

import sys
from pathlib import Path

from samuel.base.paths import SCRIPTED
from samuel.clients.adapter.agent import Agent
from samuel.clients.claude.adapter import ClaudeStream


def scripted(directory: str | Path) -> Agent:
    """The scripted agent that finds its steps in this directory."""
    # -P: a folder `samuel` in the project is not the package.
    return Agent(
        name="scripted",
        command=(sys.executable, "-P", "-m", "samuel.agents.scripted", str(directory)),
        stream=ClaudeStream,
    )


AGENT = scripted(SCRIPTED)
