"""What samuel.toml says, checked once and then never changed.

Mappings are plain dicts behind a read-only type: a true read-only proxy can be neither pickled nor written as
JSON. Lines are kept for messages; two configs that say the same on different lines are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT = "default"
DEFAULT_ALIAS = "samuel-default"
"""How `handlers` and `order` name an event's built-in handler. Both are read; the model holds the first."""

REST = "..."
"""The item of `handlers` that stands for every handler not named there."""


@dataclass(frozen=True)
class HandlerRef:
    """One item of `handlers = [...]`: a name, or a table when it has settings of its own there."""

    use: str
    strict: bool | None = None
    timeout: float | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class EventSettings:
    """`[hooks."<event>"]`. None means that the file does not say; empty `handlers` say that none run."""

    strict: bool | None = None
    timeout: float | None = None
    handlers: tuple[HandlerRef, ...] | None = None
    order: Mapping[str, int] = field(default_factory=dict)
    line: int = field(default=0, compare=False)
    order_lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    def over(self, below: EventSettings) -> EventSettings:
        """These settings where they say something, those `below` elsewhere; `order` merges per key."""
        return EventSettings(
            strict=below.strict if self.strict is None else self.strict,
            timeout=below.timeout if self.timeout is None else self.timeout,
            handlers=below.handlers if self.handlers is None else self.handlers,
            order={**below.order, **self.order},
            line=self.line or below.line,
            order_lines={**below.order_lines, **self.order_lines},
        )


NOTHING_SAID = EventSettings()


@dataclass(frozen=True)
class AgentSettings:
    """`[agents.<name>]`: any program as an agent."""

    name: str
    command: tuple[str, ...] = ()
    """The argv; `{prompt_file}` and `{prompt}` stand for the prompt."""

    prompt: str = "file"
    """How it gets the prompt: file, stdin or argument."""

    env: tuple[str, ...] = ()
    """The host's variables that it receives besides the clean set."""


@dataclass(frozen=True)
class SandboxSettings:
    """`sandbox = "host"`, or a table."""

    kind: str = "host"
    image: str = ""
    network: bool = True
    volumes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pilot:
    """`[methodology.<name>.pilot]`: the agent also looks for tasks."""

    enabled: bool = False
    discover_interval: int = 5
    max_discovery_tasks: int = 10
    focus: str = ""


@dataclass(frozen=True)
class Methodology:
    """`[methodology.<name>]`"""

    name: str
    hooks: Mapping[str, EventSettings] = field(default_factory=dict)
    agent: str = ""
    """"": the person's own choice, or claude."""

    quality_checks: tuple[str, ...] = ()
    max_iterations: int = 25
    max_consecutive_failures: int = 3
    max_task_attempts: int = 3
    pause: float = 2.0
    agent_timeout: float = 1800.0
    max_duration: float | None = None
    """None: as long as it takes."""

    commit: bool = False
    commit_hooks: bool = False
    """Do the repository's hooks run for those commits, if somebody agreed to them?"""

    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    pilot: Pilot = field(default_factory=Pilot)

    def agent_for(self, preferred: str) -> str:
        """The agent that works: the one of samuel.toml, else the one that the user prefers, else claude."""
        return self.agent or preferred or "claude"


@dataclass(frozen=True)
class Limits:
    """`[limits]`"""

    handler_output_bytes: int = 8 * 1024 * 1024
    """What one call may print before it is cut off."""

    handler_prompt_bytes: int = 16 * 1024
    """What one handler may add to the prompt."""

    handler_memory_bytes: int = 256 * 1024 * 1024
    """What one call of a module or a container may use."""

    script_memory_bytes: int = 2 * 1024 * 1024 * 1024
    """What the processes of a plugin's script or Python function may use."""

    script_processes: int = 512
    """How many processes and threads a plugin's script or Python function may have."""


@dataclass(frozen=True)
class RankingSettings:
    """`[abilities]`: who says which abilities fit a text."""

    ranker: str = "words"
    """`words`, or `agent`: the configured agent chooses among what the words find."""

    candidates: int = 40
    """How many abilities the agent is shown."""

    timeout: float = 60.0
    """How long it may take; then the words decide."""


@dataclass(frozen=True)
class PluginSettings:
    """`[plugins.<name>]`: the plugin's own keys, over the defaults of its manifest, and whether it takes part."""

    config: Mapping[str, object] = field(default_factory=dict)
    enabled: bool = True
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Config:
    file: Path | None = None
    """None when there is no samuel.toml: then everything has its default."""

    default_methodology: str = "ralph"

    environment: str = ""
    """Where this is: dev, prod, …; ~/.samuel/config.toml, SAMUEL_ENV and `--env` override it."""

    hooks: Mapping[str, EventSettings] = field(default_factory=dict)
    """By canonical event name."""

    methodology: Mapping[str, Methodology] = field(default_factory=dict)

    distributions: tuple[str, ...] = ()
    """The installed Python distributions whose `samuel.hooks` entry points take part."""

    pass_env: tuple[str, ...] = ()
    """The host's variables that hooks receive besides the clean set."""

    guardrails: Mapping[str, object] = field(default_factory=dict)
    """Free keys, shown to the agent."""

    limits: Limits = field(default_factory=Limits)

    abilities: RankingSettings = field(default_factory=RankingSettings)

    agents: Mapping[str, AgentSettings] = field(default_factory=dict)

    allow_commands: tuple[str, ...] = ()
    """`[session]`: the commands, word for word, that a hook's `run_command` may run without asking."""

    plugins: Mapping[str, PluginSettings] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The methodologies there are: those of the file, and the default one whether it is there or not."""
        return tuple(dict.fromkeys((self.default_methodology, *self.methodology)))

    @property
    def several(self) -> bool:
        """Is there more than one, so that each keeps its state apart?"""
        return len(self.names) > 1

    def chosen(self, name: str) -> Methodology:
        """A methodology by name; one that the file does not mention has its defaults."""
        return self.methodology.get(name) or Methodology(name)

    def settings(self, event: str, methodology: str) -> EventSettings:
        """What holds for a canonical event while a methodology runs: its own word over the general one."""
        general = self.hooks.get(event, NOTHING_SAID)
        chosen = self.methodology.get(methodology)
        return chosen.hooks.get(event, NOTHING_SAID).over(general) if chosen else general
