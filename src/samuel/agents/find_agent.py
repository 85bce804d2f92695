"""An agent by its name. A name in samuel.toml wins over one that Samuel ships.

Any program from samuel.toml can be one: `[agents.NAME] command = ["./agent", "{prompt_file}"]`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import cast

from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.clients.adapter.agent import PROMPT, PROMPT_FILE, Agent, Channel, Claim
from samuel.clients.adapter.stream import PlainStream
from samuel.clients.table import AGENTS
from samuel.config.model import AgentSettings

PYTHON = "{python}"
"""Stands for the Python that runs Samuel, so that a command means the same on every machine."""

_PLACEHOLDER: dict[Channel, str] = {"stdin": "", "file": PROMPT_FILE, "argument": PROMPT}


def configured(settings: AgentSettings) -> Agent:
    """The agent that `[agents.NAME]` describes. A UsageError if its command could not receive the prompt.

    Its words for `prompt`, `stream`, `claim` and `hooks` were checked with samuel.toml.
    """
    channel, claim = cast(Channel, settings.prompt), cast(Claim, settings.claim)
    placeholder = _PLACEHOLDER[channel]
    if not settings.command:
        raise UsageError(
            f"the agent `{settings.name}` has no `command`",
            f'write for example `command = ["./agent"]` below [agents.{settings.name}] in samuel.toml',
        )
    if placeholder and not any(placeholder in word for word in settings.command):
        raise UsageError(
            f"the agent `{settings.name}` gets its prompt as `{channel}`, but its command has no `{placeholder}`",
            f'write `{placeholder}` where the prompt belongs, or set `prompt = "stdin"`',
        )
    # Without `stream`, its output is read as that of the client, or of the agent with the same name.
    reader = settings.stream or settings.hooks or settings.name
    return Agent(
        name=settings.name,
        command=tuple(word.replace(PYTHON, sys.executable) for word in settings.command),
        prompt=channel,
        env=settings.env,
        install=f"[agents.{settings.name}] in samuel.toml names it",
        stream=AGENTS[reader].stream if reader in AGENTS else PlainStream,
        hooks=settings.hooks,
        claim=claim,
    )


def find(name: str, settings: Mapping[str, AgentSettings]) -> Agent:
    if name in settings and (settings[name].command or name not in AGENTS):
        return configured(settings[name])
    if name in AGENTS:
        return AGENTS[name]
    names = sorted({*AGENTS, *settings})
    others = f"the agents are {', '.join(names)}; add your own as [agents.{name}] in samuel.toml"
    raise UsageError(f"there is no agent `{name}`", did_you_mean(name, names, others))
