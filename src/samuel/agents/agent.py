"""What Samuel knows about an agent: a program that reads a prompt, works in the current directory, and exits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Channel = Literal["stdin", "file", "argument"]
Usage = dict[str, int | float]
UsageParser = Callable[[Iterable[bytes]], Usage]

PROMPT = "{prompt}"
PROMPT_FILE = "{prompt_file}"


@dataclass(frozen=True)
class Agent:
    name: str

    command: tuple[str, ...]
    """The argv of an unattended run. `{prompt_file}` or `{prompt}` in it, by channel, stands for the prompt."""

    prompt: Channel = "stdin"
    """How it gets the prompt. An argument is for short ones: Linux takes 128 KiB and not a byte more."""

    env: tuple[str, ...] = ()
    """The host's variables that it receives besides the clean set: its keys, and where it finds its model."""

    confined: Mapping[str, str] = field(default_factory=dict)
    """Variables it gets in a sandbox only."""

    version: tuple[str, ...] = ()
    """The argv that prints its version."""

    install: str = ""
    """What would install it."""

    checked: str = ""
    """The version whose own `--help`, and a run against a model server of ours, agreed with all this."""

    usage: UsageParser | None = None
    """Finds tokens and cost in the lines of its stdout; {} where there are none."""
