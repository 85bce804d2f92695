"""The content of samuel.toml, checked once and then never changed.

Mappings are plain dicts behind a read-only type: a true read-only proxy can be neither pickled nor written as
JSON. Lines are stored for messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

DEFAULT = "default"
DEFAULT_ALIAS = "samuel-default"
RESERVED_NAMES = (DEFAULT, DEFAULT_ALIAS)
"""The names of an event's built-in handler in `handlers` and `order`, which nothing else may have. The model
always holds the first."""

REST = "..."
"""The item of `handlers` that stands for every handler not named there."""


class HandlerRef(msgspec.Struct, frozen=True):
    """One item of `handlers = [...]`: a name, or a table with a name and settings."""

    use: str
    strict: bool | None = None
    timeout: float | None = None
    mode: str = ""
    serial: bool = False
    """True: it never runs in two lanes at once."""
    background: bool | None = None
    """True: its answer is not awaited. None: as the handler itself declares."""
    line: int = 0


class EventSettings(msgspec.Struct, frozen=True):
    """`[hooks."<event>"]`. None means that a key is not set; with empty `handlers` none run."""

    strict: bool | None = None
    timeout: float | None = None
    handlers: tuple[HandlerRef, ...] | None = None
    order: Mapping[str, int] = {}
    line: int = 0
    order_lines: Mapping[str, int] = {}

    def over(self, below: EventSettings) -> EventSettings:
        """These settings where they are set, else those `below`; `order` is merged per key."""
        return EventSettings(
            strict=below.strict if self.strict is None else self.strict,
            timeout=below.timeout if self.timeout is None else self.timeout,
            handlers=below.handlers if self.handlers is None else self.handlers,
            order={**below.order, **self.order},
            line=self.line or below.line,
            order_lines={**below.order_lines, **self.order_lines},
        )


NO_SETTINGS = EventSettings()


class AgentSettings(msgspec.Struct, frozen=True):
    """`[agents.<name>]`: any program as an agent."""

    name: str
    command: tuple[str, ...] = ()
    """The argv; `{prompt_file}` and `{prompt}` stand for the prompt."""

    prompt: str = "file"
    """How it gets the prompt: file, stdin or argument."""

    env: tuple[str, ...] = ()
    """The host's variables that it receives in addition to the clean set."""

    stream: str = ""
    """Whose form its output has; "": that of the agent of this name, if there is one, else plain text."""

    claim: str = "command"
    """By what it claims a task: `samuel run done`, or a clean exit that leaves changed files."""

    hooks: str = ""
    """The client that the command runs, so that its tool calls can be put to Samuel; "": none with hooks."""

    unguarded: str = "refuse"
    """What happens when the agent cannot honour a guard: `refuse` the run, or `accept` that it does not hold.

    `accept all` comes from the command line alone, and is about guards from the user's home directory as well."""


class SandboxSettings(msgspec.Struct, frozen=True):
    """`sandbox = "host"`, or a table."""

    kind: str = "host"
    image: str = ""
    network: bool = True
    volumes: tuple[str, ...] = ()


class Pilot(msgspec.Struct, frozen=True):
    """`[methodology.<name>.pilot]`: the agent also looks for tasks."""

    enabled: bool = False
    discover_interval: int = 5
    max_discovery_tasks: int = 10
    focus: str = ""


class Budgets(msgspec.Struct, frozen=True):
    """The most that agents may use, by what it is counted for; None: unlimited."""

    max_cost_usd: float | None = None
    max_tokens: int | None = None
    max_task_cost_usd: float | None = None
    max_task_tokens: int | None = None
    max_day_cost_usd: float | None = None
    max_day_tokens: int | None = None


class ReviewSettings(msgspec.Struct, frozen=True):
    """`[methodology.<name>.review]`"""

    agent: str = ""
    """The agent that reviews work before a task is completed; "": none does."""

    rounds: int = 2
    """How often it may refuse the work on a task, before a person decides."""

    timeout: float | None = None
    """How long one reading may take; None: as long as `agent_timeout`."""

    lenses: tuple[str, ...] = ()
    """Further readings of the same work, each by a process of its own: `security`, `tests`."""


class Methodology(msgspec.Struct, frozen=True):
    """`[methodology.<name>]`"""

    name: str
    hooks: Mapping[str, EventSettings] = {}
    agent: str = ""
    """"": the agent of ~/.samuel/config.toml, or claude."""

    quality_checks: tuple[str, ...] = ()
    max_iterations: int = 25
    max_consecutive_failures: int = 3
    max_task_attempts: int = 3
    pause: float = 2.0
    agent_timeout: float = 1800.0
    max_duration: float | None = None
    """None: unlimited."""

    commit: bool = False
    commit_hooks: bool = False
    """True: the repository's git hooks run for those commits, if the user trusts them."""

    sandbox: SandboxSettings = SandboxSettings()
    pilot: Pilot = Pilot()
    agents: tuple[str, ...] = ()
    """`agents`: the agents in order of preference, if there are several; `agent` is then ""."""

    max_wait: float = 6 * 3600.0
    """How long the run waits for an agent whose usage limit is reached."""

    idle_timeout: float | None = 600.0
    """An agent that shows no sign of work for this long is ended; None: never."""

    require_checks: bool = False
    baseline: str = "refuse"
    """What a check that fails before the first agent means: `refuse` the run, or `accept` it as known."""

    protect: tuple[str, ...] = ()
    """Patterns of files that only a task which names them may change."""

    protect_existing: tuple[str, ...] = ()
    """The same for files that are there already: others may be added."""

    retry: str = "continue"
    """What an attempt after a failed one begins with: `continue` its files, or a `fresh` verified tree."""

    budgets: Budgets = Budgets()
    branch: bool = False
    """True: each run commits its tasks on a branch of its own, which `samuel run finish` merges."""

    proof: str = "ask"
    """Whether a claim needs a test that fails without the work: `ask` for one once, `require` it, or `off`."""

    acceptance: str = "none"
    """Who writes tests for a task before the work on it starts: an `agent`, or `none`."""

    acceptance_visible: bool = True
    """Whether the agent that does the work sees all of these tests; False: half of them."""

    review: ReviewSettings = ReviewSettings()
    """Whether another agent reviews the work before a task is completed."""

    evidence: str = "clean room"
    """Where the checks run that decide: in a `clean room`, or `in place`, where the agent worked."""

    prepare: str = ""
    """A command that makes in the clean room what checks need and git does not have, such as `npm ci`.

    "": it is copied from the work tree before the first agent.
    """

    take_environment: bool = False
    """True: take the environment of the work tree as it is, with what agents of an earlier run changed there."""

    sealed_checks: tuple[str, ...] = ()
    """Programs outside of the project that judge a claim, and that a sandboxed agent cannot read."""

    canary: str = ""
    """A command that makes the checks fail in the clean room; "": Samuel plants a failing test itself."""

    coverage: str = "report"
    """A tool call that no hook judged is counted in the `report`, or fails the iteration if this is `required`."""

    def agent_for(self, preferred: str) -> str:
        """The agent to run: the first one in samuel.toml, else the one that the user prefers, else claude."""
        return self.agents_for(preferred)[0]

    def agents_for(self, preferred: str) -> tuple[str, ...]:
        """The agents to run, in order: a later one takes over while those before it are at their usage limit."""
        return self.agents or (self.agent or preferred or "claude",)


class Limits(msgspec.Struct, frozen=True):
    """`[limits]`"""

    handler_output_bytes: int = 8 * 1024 * 1024
    """How much a call may print before it is stopped."""

    handler_prompt_bytes: int = 16 * 1024
    """How much a handler may add to the prompt."""

    prd_prompt_bytes: int = 8 * 1024
    """How much of the PRD's text outside of its tasks is in the prompt."""

    handler_memory_bytes: int = 256 * 1024 * 1024
    """How much memory a call of a module or a container may use."""

    script_memory_bytes: int = 2 * 1024 * 1024 * 1024
    """How much memory the processes of a plugin's script or Python function may use."""

    script_processes: int = 512
    """How many processes and threads a plugin's script or Python function may have."""


class LaneSettings(msgspec.Struct, frozen=True):
    """`[lanes]`: what a lane of `samuel run start --parallel` needs beside the files of the repository."""

    setup: str = ""
    """A command that makes a lane ready, for example installs packages; run again when its inputs change."""

    inputs: tuple[str, ...] = ()
    """The files that `setup` depends on; without any, the usual lock files of package managers."""

    copy: tuple[str, ...] = ()
    """Files that git does not have and that each lane needs, such as `.env`."""


class FleetSettings(msgspec.Struct, frozen=True):
    """`[fleet]`: the machines on which `samuel run start` lets agents work."""

    places: tuple[str, ...] = ()
    """`local:N`, `ssh:HOST:SLOTS[:DIRECTORY]` or `ray:ADDRESS`; without any, all work is done on this machine."""

    remote: str = "origin"
    """The git remote through which the machines exchange commits."""

    program: str = "samuel"
    """The `samuel` on the other machines."""

    silence: float = 60.0
    """A machine from which nothing is heard for this long counts as lost."""

    patience: float = 300.0
    """How long a transfer is repeated while the remote cannot be reached."""

    retry: float = 5.0
    """When a machine that was lost is tried again; twice as late each time."""


class ForgeSettings(msgspec.Struct, frozen=True):
    """`[forge]`: how the issues of a forge become tasks."""

    authors: str = "collaborators"
    """Whose comments are read: those of `collaborators`, who may write to the repository, or of `all`."""

    working_label: str = "samuel:working"
    """The label of an issue that a run works on: another project leaves it alone."""


class RankingSettings(msgspec.Struct, frozen=True):
    """`[abilities]`: how abilities are ranked for a text."""

    ranker: str = "words"
    """`words`, or `agent`: the configured agent chooses among the abilities that the words find."""

    candidates: int = 40
    """How many abilities the agent chooses from."""

    timeout: float = 60.0
    """How long the agent may take; then the ranking by words is used."""


class PluginSettings(msgspec.Struct, frozen=True):
    """`[plugins.<name>]`: the plugin's settings, which win over its manifest's defaults, and `enabled`."""

    config: Mapping[str, object] = {}
    enabled: bool = True
    line: int = 0


class Config(msgspec.Struct, frozen=True):
    """A whole samuel.toml."""

    file: Path | None = None
    """None when there is no samuel.toml: then everything has its default."""

    default_methodology: str = "ralph"

    environment: str = ""
    """The environment: dev, prod, …; ~/.samuel/config.toml, SAMUEL_ENV and `--env` override it."""

    hooks: Mapping[str, EventSettings] = {}
    """By canonical event name."""

    methodology: Mapping[str, Methodology] = {}

    distributions: tuple[str, ...] = ()
    """The installed Python distributions whose `samuel.hooks` entry points are used."""

    import_hooks: tuple[str, ...] = ()
    """The agents whose hooks in the project run here too, and directories of plugins for such agents."""

    pass_env: tuple[str, ...] = ()
    """The host's variables that hooks receive in addition to the clean set."""

    guardrails: Mapping[str, object] = {}
    """Any keys, shown to the agent."""

    limits: Limits = Limits()

    lanes: LaneSettings = LaneSettings()

    fleet: FleetSettings = FleetSettings()

    forge: ForgeSettings = ForgeSettings()

    abilities: RankingSettings = RankingSettings()

    agents: Mapping[str, AgentSettings] = {}

    allow_commands: tuple[str, ...] = ()
    """`[session]`: the commands, word for word, that a hook's `run_command` may run without asking."""

    plugins: Mapping[str, PluginSettings] = {}

    serve_idle: float = 600.0
    """`[serve]`: the seconds without a call after which the server of the project ends."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the methodologies: the default one, and those in the file."""
        return tuple(dict.fromkeys((self.default_methodology, *self.methodology)))

    @property
    def has_several_methodologies(self) -> bool:
        """True if there is more than one methodology, so that each needs its own state directory."""
        return len(self.names) > 1

    def chosen(self, name: str) -> Methodology:
        """The methodology with this name; with its defaults if the file does not have it."""
        return self.methodology.get(name) or Methodology(name)

    def settings(self, event: str, methodology: str) -> EventSettings:
        """The settings of an event (its canonical name) for a methodology, whose own settings win."""
        general = self.hooks.get(event, NO_SETTINGS)
        chosen = self.methodology.get(methodology)
        return chosen.hooks.get(event, NO_SETTINGS).over(general) if chosen else general
