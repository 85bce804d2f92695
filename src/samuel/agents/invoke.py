"""Run an agent once: a fresh process with one prompt, in its sandbox, until it exits or its time is up."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel.agents import process_files
from samuel.agents.watchdog import OnActivity, OverBudget, Watchdog, WhyEnd
from samuel.base.clock import SystemClock
from samuel.clients.adapter.agent import HOOKS, PROMPT, PROMPT_FILE, TOOLS, USAGE_FILE, Agent
from samuel.clients.adapter.ending import AgentEnding
from samuel.clients.adapter.stream import AgentUsage, Now, ObservedCall
from samuel.clients.adapter.trouble import ExitFacts, ending_of
from samuel.confine import sandbox as sandboxes
from samuel.files.log import BoundedLog
from samuel.process import environment as environments
from samuel.process import spawn
from samuel.process.reason import NotRunnable

TAIL = 8 * 1024
TIMED_OUT = 124  # what `timeout` of coreutils says

_LONGEST_ARGUMENT = 128 * 1024 - 1  # Linux: MAX_ARG_STRLEN, with the byte that ends it
_NO_LIMIT = 1 << 62  # an agent may say as much as it likes: its log is bounded, and only the tail is held
_GRACE = 2.0  # seconds between asking it to end and ending it: agents have sessions to save

# So that `samuel` works where a sandbox hides /tmp, should it be installed there.
_SAMUEL = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]))


class Invoked(NamedTuple):
    exit_code: int
    """The agent's own; 128 and the signal's number when it was killed, 124 when Samuel ended it early."""
    stdout_tail: str
    stderr_tail: str
    stdout_path: str
    """What it said on stdout; stderr is beside it, with the ending `.err`, if there was any.

    Of more than 64 MiB the beginning and the end are kept, with a line between them that says so."""
    usage: AgentUsage
    duration: float
    timed_out: bool
    ending: AgentEnding
    """How it ended, by what it reported in a typed form and by its exit."""
    notes: tuple[str, ...] = ()
    """What the user should know: variables that were left out, limits that nothing holds it to, what was moved
    to quarantine."""
    tool_calls: tuple[ObservedCall, ...] = ()
    """The tool calls that it reported."""
    message: str = ""
    """Its last message, or the end of a very long one; of a program that has no messages, its output."""


class AgentCall(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is started with."""

    prompt: str
    env: Mapping[str, str] = {}
    """The event's, with references to the environment of the host."""
    variables: Mapping[str, str] = {}
    """This run's own (`SAMUEL_TASK_ID` and the like), which stand above both."""
    arguments: tuple[str, ...] = ()
    """Added to its command line, where `{hooks}` is or at the end."""
    iteration: int = 0
    session: str = ""
    """Names the files of a process that belongs to no iteration."""
    run_id: str = ""
    """Names the directory of those that do."""


class AgentSurroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent works."""

    root: Path
    state: Path
    """The run's state directory."""
    sandbox: sandboxes.SandboxRequest
    environment: Mapping[str, str]
    """The host's."""
    cache: Path | None = None
    homes: tuple[sandboxes.Private, ...] = ()
    """Directories that it gets a fresh one of in a sandbox, beside the agent's own."""


class AgentLimits(msgspec.Struct, frozen=True, kw_only=True):
    """When an agent is ended early."""

    timeout: float
    idle_timeout: float | None = None
    """Seconds without output, a change of a file or use of the CPU."""
    over_budget: OverBudget | None = None
    """Is asked whenever its usage grew; a reason ends it."""
    restarted: WhyEnd | None = None
    """Is asked twice a second; a reason ends it, and it starts again."""


def invoke(
    agent: Agent,
    call: AgentCall,
    surroundings: AgentSurroundings,
    limits: AgentLimits,
    *,
    on_output: Callable[[bytes], None] | None = None,
    on_activity: OnActivity | None = None,
    now: Now = SystemClock.now,
) -> Invoked:
    """Run the agent in its root. Raises NotRunnable when it could not be started at all.

    Output goes to `on_output` as it comes; `on_activity` gets what it does, in words.
    """
    root, state = surroundings.root.absolute(), surroundings.state.absolute()
    sandbox, environment = surroundings.sandbox, surroundings.environment
    label = process_files.label(call.iteration, call.session, call.run_id)
    command, unheld = _command(agent, call.env)
    command = _with_arguments(command, call.arguments)
    if agent.usage_file:
        command = _filled(command, USAGE_FILE, str(process_files.usage_file(state, label)))
    argv, stdin = _with_prompt(agent, command, call.prompt, state, label)
    variables = {**agent.variables, **call.variables}
    if sandbox.kind != sandboxes.HOST:
        variables = {**variables, **agent.confined}
    full, notes = assemble(agent, call.env, environment, variables, process_files.put_samuel(state))
    left: list[str] = []
    homes = (*_homes(agent, environment), *surroundings.homes)
    place = sandboxes.Workspace(root, state, environment, surroundings.cache, _SAMUEL, homes, report=left.append)
    log = process_files.log(state, label)
    errors = process_files.errors_path(log)
    stream = agent.stream(now)
    watchdog = Watchdog(
        stream,
        root,
        idle_timeout=limits.idle_timeout,
        over_budget=limits.over_budget,
        on_activity=on_activity,
        restarted=limits.restarted,
    )
    with (
        process_files.fresh(state, log) as stdout,
        process_files.fresh(state, errors) as stderr,
        sandboxes.confined(argv, sandbox, place, full) as confined,
    ):
        finished = spawn.run(
            confined.argv,
            cwd=str(root),
            env=confined.env,
            pass_fds=confined.pass_fds,
            stdin=stdin,
            timeout=limits.timeout,
            output_limit=_NO_LIMIT,
            grace=_GRACE,
            on_output=on_output,
            stdout_to=_tee(BoundedLog(stdout, log).write, watchdog.take),
            stderr_to=_tee(BoundedLog(stderr, errors).write, watchdog.take_error),
            keep=TAIL,
            stop=watchdog,
        )
    watchdog.close()
    if agent.usage_file and (document := process_files.read_usage(state, label)):
        stream.feed(b" ".join(document.splitlines()))
    if finished.ended == "not_started":
        raise NotRunnable(f"the agent `{agent.name}` was not started: {finished.why}", agent.install)
    facts = _facts(agent, finished, sandbox.kind, limits, watchdog)
    return Invoked(
        exit_code=facts.exit_code,
        stdout_tail=facts.stdout_tail,
        stderr_tail=facts.stderr_tail,
        stdout_path=str(log),
        usage=stream.usage,
        duration=finished.duration,
        timed_out=finished.ended == "timed_out",
        ending=ending_of(stream, facts),
        notes=(*notes, *unheld, *left),
        tool_calls=tuple(stream.tool_calls),
        message=stream.message,
    )


class Variables(NamedTuple):
    """The environment of an agent process, put together at the last moment.

    Until then a secret is only its name: `"$ANTHROPIC_API_KEY"` in an event's `env`. Here, and nowhere else, the
    reference becomes the host's value; from here it goes to the process and not into any record.
    """

    env: dict[str, str]
    notes: list[str]
    """What was left out, and why."""


def assemble(
    agent: Agent, env: Mapping[str, str], host: Mapping[str, str], run_variables: Mapping[str, str], programs: Path
) -> Variables:
    """The clean set, what the agent may have of the host's, the event's `env`, and `run_variables`.

    `programs` comes first on PATH.
    """
    resolved, notes = _resolve(env, host)
    variables = environments.clean({**resolved, **run_variables}, pass_names=agent.env, base=host)
    variables["PATH"] = f"{programs}{os.pathsep}{variables['PATH']}"
    return Variables(variables, notes)


def _resolve(env: Mapping[str, str], host: Mapping[str, str]) -> Variables:
    resolved, notes = {}, []
    for name, value in env.items():
        host_name = environments.referenced(value)
        if name in environments.WITHHELD or host_name in environments.WITHHELD:
            notes.append(f"`{name}` is left out of the agent's environment: it is not for agents")
        elif not host_name:
            resolved[name] = value
        elif host_name in host:
            resolved[name] = host[host_name]
        else:
            notes.append(f"`{name}` is left out of the agent's environment: `{value}` is not set")
    return Variables(resolved, notes)


def _facts(
    agent: Agent, finished: spawn.Finished, sandbox: str, limits: AgentLimits, watchdog: Watchdog
) -> ExitFacts:
    is_stopped = finished.ended == "stopped"
    return ExitFacts(
        exit_code=_exit_code(finished),
        stdout_tail=finished.stdout.decode("utf-8", "replace"),
        stderr_tail=finished.stderr[-TAIL:].decode("utf-8", "replace"),
        sandbox=sandbox,
        exit_kind=agent.exit_kinds.get(finished.returncode) if finished.ended == "exited" else None,
        timed_out=limits.timeout if finished.ended == "timed_out" else 0,
        idle=(limits.idle_timeout or 0) if is_stopped and watchdog.is_idle else 0,
        over_budget=watchdog.over_budget if is_stopped else "",
        restarted=watchdog.restarted if is_stopped else "",
    )


def _tee(*takers: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """Gives each chunk to all of them, in order."""

    def take(chunk: bytes) -> None:
        for taker in takers:
            taker(chunk)

    return take


def _with_arguments(command: tuple[str, ...], arguments: tuple[str, ...]) -> tuple[str, ...]:
    if HOOKS in command:
        place = command.index(HOOKS)
        return (*command[:place], *arguments, *command[place + 1 :])
    return (*command, *arguments)


def _filled(command: tuple[str, ...], placeholder: str, text: str) -> tuple[str, ...]:
    return tuple(word.replace(placeholder, text) for word in command)


def _command(agent: Agent, env: Mapping[str, str]) -> tuple[tuple[str, ...], list[str]]:
    """The argv, and what it leaves to the agent's good will."""
    if TOOLS not in env:
        return agent.command, []
    tools = tuple(env[TOOLS].split("\n")) if env[TOOLS] else ()
    if agent.limited is not None:
        return agent.limited(tools), []
    return agent.command, [f"the agent `{agent.name}` cannot be held to the tools {', '.join(tools) or 'none'}"]


def _with_prompt(
    agent: Agent, command: tuple[str, ...], prompt: str, state: Path, label: str
) -> tuple[tuple[str, ...], bytes]:
    """The argv and the stdin that carry the prompt."""
    if agent.prompt == "stdin":
        return command, agent.stdin_form(prompt).encode()
    if agent.prompt == "file":
        return _filled(command, PROMPT_FILE, str(process_files.put_prompt(state, label, prompt))), b""
    argv = _with_argument(command, prompt)
    if max(len(word.encode()) for word in argv) <= _LONGEST_ARGUMENT:
        return argv, b""
    if agent.long_prompt:
        file = str(process_files.put_prompt(state, label, prompt))
        return _with_argument(command, agent.long_prompt.replace(PROMPT_FILE, file)), b""
    raise NotRunnable(
        f"the agent `{agent.name}` gets its prompt as an argument, and {len(prompt.encode())} bytes are more "
        f"than the {_LONGEST_ARGUMENT} that the system takes",
        'set `prompt = "stdin"` or `prompt = "file"` for it',
    )


def _with_argument(command: tuple[str, ...], prompt: str) -> tuple[str, ...]:
    # A list, or words of a plugin, must never be an option of the agent's program.
    return _filled(command, PROMPT, f"\n{prompt}" if prompt.startswith("-") else prompt)


def _homes(agent: Agent, host: Mapping[str, str]) -> tuple[sandboxes.Private, ...]:
    return tuple(
        sandboxes.Private(host.get(home.variable) or os.path.join(host["HOME"], home.default), home.readable)
        for home in agent.homes
        if home.variable in host or "HOME" in host
    )


def _exit_code(finished: spawn.Finished) -> int:
    if finished.ended in ("timed_out", "stopped"):
        return TIMED_OUT
    return finished.returncode if finished.returncode >= 0 else 128 - finished.returncode
