"""Any program from samuel.toml as an agent: `[agents.NAME] command = ["./agent", "{prompt_file}"]`."""

from __future__ import annotations

import sys

from samuel.agents.streams import STREAMS, stream_for
from samuel.base.errors import UsageError
from samuel.clients.adapter.agent import PROMPT, PROMPT_FILE, Agent, Channel, Claim
from samuel.config.loop import HOOK_CLIENTS
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
    if settings.hooks and settings.hooks not in HOOK_CLIENTS:
        raise UsageError(
            f"the agent `{settings.name}` has unknown `hooks`, `{settings.hooks}`",
            f"use one of {', '.join(HOOK_CLIENTS)}",
        )
    return Agent(
        name=settings.name,
        command=tuple(word.replace(PYTHON, sys.executable) for word in settings.command),
        prompt=channel,
        env=settings.env,
        install=f"[agents.{settings.name}] in samuel.toml names it",
        stream=stream_for(settings.stream, settings.hooks or settings.name),
        hooks=settings.hooks,
        claim=_claim(settings),
    )


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
