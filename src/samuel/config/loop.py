"""Reads the tables of samuel.toml that configure the loop: methodologies, agents, sandboxes."""

from __future__ import annotations

from collections.abc import Mapping

from samuel.base.errors import UsageError
from samuel.base.printable import shorten
from samuel.clients.table import AGENTS, RUN_BRIDGES
from samuel.config import kinds
from samuel.config.model import (
    AgentSettings,
    Budgets,
    EventSettings,
    FleetSettings,
    LaneSettings,
    Methodology,
    Pilot,
    ReviewSettings,
    SandboxSettings,
)
from samuel.config.place_spec import place_specs
from samuel.config.reader import ConfigTable

SANDBOXES = ("host", "bwrap", "oci")
CHANNELS = ("file", "stdin", "argument")
_OF_A_COMMAND = ("command", "prompt", "env", "stream", "claim", "hooks")
STREAMS = (*AGENTS, "plain")
CLAIMS = ("command", "exit")


def methodology(name: str, table: ConfigTable, hooks: Mapping[str, EventSettings]) -> Methodology:
    default = Methodology(name)
    branch = table.take("branch", kinds.flag, default.branch)
    evidence = table.take("evidence", kinds.one_of("clean room", "in place"), default.evidence)
    return Methodology(
        name=name,
        hooks=hooks,
        agent=table.take("agent", kinds.identifier, default.agent),
        quality_checks=table.take("quality_checks", kinds.commands, default.quality_checks),
        max_iterations=table.take("max_iterations", kinds.positive, default.max_iterations),
        max_consecutive_failures=table.take(
            "max_consecutive_failures", kinds.positive, default.max_consecutive_failures
        ),
        max_task_attempts=table.take("max_task_attempts", kinds.positive, default.max_task_attempts),
        pause=table.take("pause", kinds.pause, default.pause),
        agent_timeout=table.take("agent_timeout", kinds.timeout, default.agent_timeout),
        max_duration=table.take("max_duration", kinds.timeout_or_none, default.max_duration),
        commit=table.take("commit", kinds.flag, default.commit) or branch,
        commit_hooks=table.take("commit_hooks", kinds.flag, default.commit_hooks),
        sandbox=_sandbox(table),
        pilot=_pilot(table.table("pilot")),
        agents=_agents(table),
        max_wait=table.take("max_wait", kinds.pause, default.max_wait),
        idle_timeout=table.take("idle_timeout", kinds.timeout_or_none, default.idle_timeout),
        require_checks=table.take("require_checks", kinds.flag, default.require_checks),
        baseline=table.take("baseline", kinds.one_of("refuse", "accept"), default.baseline),
        protect=table.take("protect", kinds.any_patterns, default.protect),
        protect_existing=table.take("protect_existing", kinds.any_patterns, default.protect_existing),
        retry=table.take("retry", kinds.one_of("continue", "fresh"), default.retry),
        budgets=_budgets(table),
        branch=branch,
        proof=table.take("proof", kinds.one_of("ask", "require", "off"), default.proof),
        acceptance=table.take("acceptance", kinds.one_of("agent", "none"), default.acceptance),
        acceptance_visible=table.take("acceptance_visible", kinds.flag, default.acceptance_visible),
        review=_review(table.table("review")),
        evidence=evidence,
        prepare=table.take("prepare", kinds.text, default.prepare),
        sealed_checks=table.take("sealed_checks", kinds.commands, default.sealed_checks),
        canary=_canary(table, evidence),
        coverage=table.take("coverage", kinds.one_of("report", "required"), default.coverage),
    )


def _review(table: ConfigTable) -> ReviewSettings:
    default = ReviewSettings()
    settings = ReviewSettings(
        agent=table.take("agent", kinds.identifier, default.agent),
        rounds=table.take("rounds", kinds.positive, default.rounds),
        timeout=table.take("timeout", kinds.timeout, default.timeout),
        lenses=table.take("lenses", kinds.lenses, default.lenses),
    )
    if not settings.agent and any(key in table for key in ("rounds", "timeout", "lenses")):
        table.refuse("agent", "`review` has no `agent`, so nothing would be reviewed", 'write agent = "codex"')
    return settings


def _canary(table: ConfigTable, evidence: str) -> str:
    """The value of `canary`, which changes files: not where the agent works."""
    canary = table.take("canary", kinds.text, "").strip()
    if canary and evidence == "in place":
        table.refuse("canary", "`canary` needs the clean room", 'remove `evidence = "in place"`, or `canary`')
    return canary


def _agents(table: ConfigTable) -> tuple[str, ...]:
    """The value of `agents`: names in order of preference."""
    names = table.take("agents", kinds.identifiers, None) or ()  # without a default: an empty list is refused
    if names and "agent" in table:
        table.refuse(
            "agents", "`agent` and `agents` cannot both be set", "keep `agents`: `agent` is a list of one"
        )
    return names


def _budgets(table: ConfigTable) -> Budgets:
    return Budgets(
        max_cost_usd=table.take("max_cost_usd", kinds.amount, None),
        max_tokens=table.take("max_tokens", kinds.positive, None),
        max_task_cost_usd=table.take("max_task_cost_usd", kinds.amount, None),
        max_task_tokens=table.take("max_task_tokens", kinds.positive, None),
        max_day_cost_usd=table.take("max_day_cost_usd", kinds.amount, None),
        max_day_tokens=table.take("max_day_tokens", kinds.positive, None),
    )


def lanes(table: ConfigTable) -> LaneSettings:
    default = LaneSettings()
    return LaneSettings(
        setup=table.take("setup", kinds.text, default.setup),
        inputs=table.take("inputs", kinds.names, default.inputs),
        copy=_copied(table),
    )


def fleet(table: ConfigTable) -> FleetSettings:
    default = FleetSettings()
    return FleetSettings(
        places=_places(table),
        remote=table.take("remote", kinds.identifier, default.remote),
        program=table.take("program", kinds.program, default.program),
        silence=table.take("silence", kinds.timeout, default.silence),
        patience=table.take("patience", kinds.timeout, default.patience),
        retry=table.take("retry", kinds.timeout, default.retry),
    )


def _places(table: ConfigTable) -> tuple[str, ...]:
    """The value of `places`: texts that `place_specs` can read."""
    texts = table.take("places", kinds.names, ())
    try:
        place_specs(texts)
    except UsageError as error:
        table.refuse("places", error.message, error.hint)
        return ()
    return texts


def _copied(table: ConfigTable) -> tuple[str, ...]:
    """The value of `copy`: paths below the project."""
    paths = table.take("copy", kinds.names, ())
    for path in paths:
        try:
            kinds.inner_path(path)
        except ValueError as error:
            table.refuse("copy", f"`{shorten(path)}` {error}", "name files of this project, such as `.env`")
    return paths


def agents(table: ConfigTable) -> dict[str, AgentSettings]:
    return {name: _agent(name, table.table(name)) for name in table}


def _agent(name: str, table: ConfigTable) -> AgentSettings:
    try:
        kinds.identifier(name)
    except ValueError as error:
        table.refuse("command", f"`{shorten(name)}` cannot name an agent: it {error}")
    default = AgentSettings(name)
    settings = AgentSettings(
        name,
        table.take("command", kinds.commands, ()),
        table.take("prompt", kinds.one_of(*CHANNELS), default.prompt),
        table.take("env", kinds.variables, ()),
        table.take("stream", kinds.one_of(*STREAMS), default.stream),
        table.take("claim", kinds.one_of(*CLAIMS), default.claim),
        hooks=table.take("hooks", kinds.one_of(*RUN_BRIDGES), default.hooks),
        unguarded=table.take("unguarded", kinds.one_of("refuse", "accept"), default.unguarded),
    )
    # An agent that Samuel ships has its command already.
    is_shipped = "unguarded" in table and not any(key in table for key in _OF_A_COMMAND)
    if not settings.command and not is_shipped:
        hint = 'for example: command = ["./agent", "{prompt_file}"]'
        table.refuse("command", f"the agent `{shorten(name)}` has no `command`", hint)
    elif settings.prompt == "argument" and not any("{prompt}" in word for word in settings.command):
        table.refuse("prompt", "`prompt` is `argument`, but no word of `command` contains `{prompt}`")
    return settings


def _sandbox(table: ConfigTable) -> SandboxSettings:
    """The value of `sandbox`: a kind, or a table with `kind` and its settings."""
    setting = table.take("sandbox", kinds.text_or_table, "host")
    if isinstance(setting, str):
        kind = table.take("sandbox", kinds.one_of(*SANDBOXES), "host")
        if kind == "oci":
            hint = 'sandbox = { kind = "oci", image = "..." }'
            table.refuse("sandbox", "`oci` needs an image", hint)
        return SandboxSettings(kind)
    inner = table.table("sandbox")
    kind = inner.take("kind", kinds.one_of(*SANDBOXES), "host")
    sandbox = SandboxSettings(
        kind=kind,
        image=inner.take("image", kinds.name, ""),
        network=inner.take("network", kinds.flag, True),
        volumes=inner.take("volumes", kinds.names, ()),
    )
    if kind == "oci" and not sandbox.image:
        inner.refuse("image", "`oci` needs an image")
    return sandbox


def _pilot(table: ConfigTable) -> Pilot:
    default = Pilot()
    return Pilot(
        enabled=table.take("enabled", kinds.flag, default.enabled),
        discover_interval=table.take("discover_interval", kinds.positive, default.discover_interval),
        max_discovery_tasks=table.take("max_discovery_tasks", kinds.positive, default.max_discovery_tasks),
        focus=table.take("focus", kinds.text, default.focus),
    )
