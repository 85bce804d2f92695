"""An agent: a program that reads a prompt, works in the current directory, and exits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from samuel.clients.adapter.ending import EndingKind
from samuel.clients.adapter.stream import PlainStream, StreamFactory

Channel = Literal["stdin", "file", "argument"]
Claim = Literal["command", "exit"]
"""By what an agent claims a task: by `samuel run done`, or by a clean exit that leaves changed files."""
LimitTools = Callable[[Sequence[str]], tuple[str, ...]]

# The variables in which people keep the keys of model providers, for agents that work with any provider.
PROVIDER_KEYS = (
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"),
    *("DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "MOONSHOT_API_KEY", "XAI_API_KEY"),
)

PROMPT = "{prompt}"
PROMPT_FILE = "{prompt_file}"
USAGE_FILE = "{usage_file}"
READ_PROMPT_FILE = f"Read all of the file {PROMPT_FILE}: it is your prompt. Do exactly what it says."
"""The prompt of an agent whose real one is too long for an argument."""
HOOKS = "{hooks}"
"""A word of a command that stands for the arguments by which the program gets hooks; without it they come last."""
TOOLS = "SAMUEL_ALLOWED_TOOLS"
"""The variable that holds the only tools that an agent may use, one a line; without it, it may use all it has."""


class ProcessFacts(NamedTuple):
    """What the options of one process of an agent can depend on."""

    version: str
    """Of the installed program, like `2.1.326`; "" if it is not known."""
    budget_usd: float | None
    """What is left of the budgets; None without one."""


class AgentHome(NamedTuple):
    """A directory in which a program keeps settings, credentials and what it writes while it works."""

    variable: str
    """Names another place for it."""
    default: str
    """Its place below the user's home."""
    readable: tuple[str, ...]
    """What it needs to read there: settings and credentials."""


@dataclass(frozen=True)
class Agent:
    name: str

    command: tuple[str, ...]
    """The argv of an unattended run. `{prompt_file}` or `{prompt}` in it, by channel, stands for the prompt."""

    options: Callable[[ProcessFacts], tuple[str, ...]] | None = None
    """Further options of an unattended run, by version and budget; None where nothing depends on these."""

    limited: LimitTools | None = None
    """The argv of a run that may use these tools and no others; None where the program cannot be told so."""

    prompt: Channel = "stdin"
    """How it gets the prompt. An argument is for short ones: Linux takes 128 KiB and not a byte more."""

    stdin_form: Callable[[str], str] = str
    """What a prompt on stdin is wrapped in."""

    long_prompt: str = ""
    """Its prompt when the real one is too long for an argument: where to read that, as `{prompt_file}`."""

    claim: Claim = "command"
    """By what it claims a task: `exit` is for a program that cannot run `samuel run done`."""

    own_files: tuple[str, ...] = ()
    """Patterns of what it keeps at the project's root for itself: no work, and never committed."""

    env: tuple[str, ...] = ()
    """The host's variables that it receives on top of the clean set: API keys, and where its model is."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables it always gets, whatever the host has: without them it would ask a person."""

    confined: Mapping[str, str] = field(default_factory=dict)
    """Variables it gets in a sandbox only."""

    homes: tuple[AgentHome, ...] = ()
    """Directories of its own that it must write to. In a sandbox it gets them fresh, and what is kept to read."""

    version: tuple[str, ...] = ()
    """The argv that prints its version."""

    install: str = ""
    """What would install it."""

    checked: str = ""
    """The version whose own `--help`, and a run against a model server of ours, agreed with all this."""

    stream: StreamFactory = PlainStream
    """Makes the reader of what one run prints on stdout: usage, activity and trouble."""

    exit_kinds: Mapping[int, EndingKind] = field(default_factory=dict)
    """The exit codes by which the program tells why it failed."""

    hooks: str = ""
    """The client whose hooks the program has, so that its tool calls can be put to Samuel; "": it has none."""

    usage_file: bool = False
    """True if `{usage_file}` in the command is where the program writes its usage when it ends."""
