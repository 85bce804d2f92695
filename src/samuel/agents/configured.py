"""Any program from samuel.toml as an agent: `[agents.NAME] command = ["./agent", "{prompt_file}"]`."""

from __future__ import annotations

import sys

from samuel.base.errors import UsageError
from samuel.clients.adapter.agent import PROMPT, PROMPT_FILE, Agent, Channel, Claim
from samuel.clients.adapter.stream import PlainStream, StreamFactory
from samuel.clients.table import AGENTS, RUN_BRIDGES
from samuel.config.loop import STREAMS
from samuel.config.model import AgentSettings

PYTHON = "{python}"
"""Stands for the Python that runs Samuel, so that a command means the same on every machine."""

_PLACEHOLDER: dict[Channel, str] = {"stdin": "", "file": PROMPT_FILE, "argument": PROMPT}


def configured(settings: AgentSettings) -> Agent:
    """The agent that `[agents.NAME]` describes. A UsageError if its command could not receive the prompt."""
    channel = _channel(settings)
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
    if settings.stream and settings.stream not in STREAMS:
        raise UsageError(
            f"the agent `{settings.name}` has an unknown `stream`, `{settings.stream}`",
            f"use one of {', '.join(STREAMS)}",
        )
    if settings.hooks and settings.hooks not in RUN_BRIDGES:
        raise UsageError(
            f"the agent `{settings.name}` has unknown `hooks`, `{settings.hooks}`",
            f"use one of {', '.join(RUN_BRIDGES)}",
        )
    return Agent(
        name=settings.name,
        command=tuple(word.replace(PYTHON, sys.executable) for word in settings.command),
        prompt=channel,
        env=settings.env,
        install=f"[agents.{settings.name}] in samuel.toml names it",
        stream=_stream(settings),
        hooks=settings.hooks,
        claim=_claim(settings),
    )


def _stream(settings: AgentSettings) -> StreamFactory:
    """The reader that `stream` names; without it that of the client, or of the agent with the same name."""
    name = settings.stream or settings.hooks or settings.name
    return AGENTS[name].stream if name in AGENTS else PlainStream


def _claim(settings: AgentSettings) -> Claim:
    return "exit" if settings.claim == "exit" else "command"


def _channel(settings: AgentSettings) -> Channel:
    for channel in _PLACEHOLDER:
        if channel == settings.prompt:
            return channel
    raise UsageError(
        f"the agent `{settings.name}` cannot get its prompt as `{settings.prompt}`",
        f"the values of `prompt` are {', '.join(_PLACEHOLDER)}",
    )
