"""Run an agent once: a fresh process with one prompt, in its sandbox, until it exits or its time is up."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.agents import process_files
from samuel.agents.variables import assemble
from samuel.agents.watchdog import OnActivity, OverBudget, Watchdog
from samuel.base.clock import SystemClock
from samuel.clients.adapter.agent import HOOKS, PROMPT, PROMPT_FILE, TOOLS, USAGE_FILE, Agent
from samuel.clients.adapter.ending import AgentEnding
from samuel.clients.adapter.stream import AgentStream, AgentUsage, Now, ObservedCall
from samuel.clients.adapter.trouble import ExitFacts, ending_of
from samuel.confine import sandbox as sandboxes
from samuel.files.bounded_log import BoundedLog
from samuel.process import spawn
from samuel.process.reason import NotRunnable

TAIL = 8 * 1024
TIMED_OUT = 124  # what `timeout` of coreutils says

_LONGEST_ARGUMENT = 128 * 1024 - 1  # Linux: MAX_ARG_STRLEN, with the byte that ends it
_NO_LIMIT = 1 << 62  # an agent may say as much as it likes: its log is bounded, and only the tail is held
_GRACE = 2.0  # seconds between asking it to end and ending it: agents have sessions to save
_NOTHING: Mapping[str, str] = MappingProxyType({})

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


def invoke(
    agent: Agent,
    *,
    prompt: str,
    env: Mapping[str, str],
    sandbox: sandboxes.SandboxRequest,
    root: Path,
    state: Path,
    iteration: int,
    timeout: float,
    environment: Mapping[str, str],
    variables: Mapping[str, str] = _NOTHING,
    on_output: Callable[[bytes], None] | None = None,
    cache: Path | None = None,
    session: str = "",
    run_id: str = "",
    idle_timeout: float | None = None,
    over_budget: OverBudget | None = None,
    on_activity: OnActivity | None = None,
    now: Now = SystemClock.now,
    arguments: tuple[str, ...] = (),
    homes: tuple[sandboxes.Private, ...] = (),
) -> Invoked:
    """Run the agent in `root`. Raises NotRunnable when it could not be started at all.

    `env` is the event's, with references to `environment`, the host's; `variables` are this run's own
    (`SAMUEL_TASK_ID` and the like) and stand above both. `state` is the run's state directory. Output goes to
    `on_output` as it comes. `session` names the files of a process that belongs to no iteration, `run_id` the
    directory of those that do.

    The agent is ended after `idle_timeout` seconds without output, a change of a file or use of the CPU, and as
    soon as `over_budget`, which is asked whenever its usage grew, gives a reason. `on_activity` gets what it does,
    in words. `arguments` are added to its command line, where `{hooks}` is or at the end, and `homes` to the
    directories that it gets a fresh one of in a sandbox.
    """
    root, state = root.absolute(), state.absolute()
    label = process_files.label(iteration, session, run_id)
    command, unheld = _command(agent, env)
    command = _with_arguments(command, arguments)
    if agent.usage_file:
        command = _with_usage_file(command, state, label)
    argv, stdin = _with_prompt(agent, command, prompt, state, label)
    variables = {**agent.variables, **variables}
    if sandbox.kind != sandboxes.HOST:
        variables = {**variables, **agent.confined}
    full, notes = assemble(agent, env, environment, variables, process_files.put_samuel(state))
    left: list[str] = []
    homes = (*_homes(agent, environment), *homes)
    place = sandboxes.Workspace(root, state, environment, cache, _SAMUEL, homes, report=left.append)
    log = process_files.log(state, label)
    errors = process_files.errors_path(log)
    stream = agent.stream(now)
    watchdog = Watchdog(stream, root, idle_timeout=idle_timeout, over_budget=over_budget, on_activity=on_activity)
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
            timeout=timeout,
            output_limit=_NO_LIMIT,
            grace=_GRACE,
            on_output=on_output,
            stdout_to=_tee(BoundedLog(stdout, log).write, watchdog.take),
            stderr_to=_tee(BoundedLog(stderr, errors).write, watchdog.take_error),
            keep=TAIL,
            stop=watchdog,
        )
    watchdog.close()
    if agent.usage_file:
        _read_usage_file(stream, state, label)
    if finished.ended == "not_started":
        raise NotRunnable(f"the agent `{agent.name}` was not started: {finished.why}", agent.install)
    facts = ExitFacts(
        exit_code=_exit_code(finished),
        stdout_tail=finished.stdout.decode("utf-8", "replace"),
        stderr_tail=finished.stderr[-TAIL:].decode("utf-8", "replace"),
        sandbox=sandbox.kind,
        exit_kind=agent.exit_kinds.get(finished.returncode) if finished.ended == "exited" else None,
        timed_out=timeout if finished.ended == "timed_out" else 0,
        idle=(idle_timeout or 0) if finished.ended == "stopped" and watchdog.is_idle else 0,
        over_budget=watchdog.over_budget if finished.ended == "stopped" else "",
    )
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


def _with_usage_file(command: tuple[str, ...], state: Path, label: str) -> tuple[str, ...]:
    path = str(process_files.usage_file(state, label))
    return tuple(word.replace(USAGE_FILE, path) for word in command)


def _read_usage_file(stream: AgentStream, state: Path, label: str) -> None:
    """Give the stream what its program wrote, as one line."""
    if document := process_files.read_usage(state, label):
        stream.feed(b" ".join(document.splitlines()))


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
) -> tuple[list[str], bytes]:
    """The argv and the stdin that carry the prompt."""
    if agent.prompt == "stdin":
        return list(command), agent.stdin_form(prompt).encode()
    if agent.prompt == "file":
        file = str(process_files.put_prompt(state, label, prompt))
        return [word.replace(PROMPT_FILE, file) for word in command], b""
    argv = _with_argument(command, prompt)
    if _fits(argv):
        return argv, b""
    if agent.long_prompt:
        file = str(process_files.put_prompt(state, label, prompt))
        return _with_argument(command, agent.long_prompt.replace(PROMPT_FILE, file)), b""
    raise NotRunnable(
        f"the agent `{agent.name}` gets its prompt as an argument, and {len(prompt.encode())} bytes are more "
        f"than the {_LONGEST_ARGUMENT} that the system takes",
        'set `prompt = "stdin"` or `prompt = "file"` for it',
    )


def _with_argument(command: tuple[str, ...], prompt: str) -> list[str]:
    if prompt.startswith("-"):  # a list, or words of a plugin: never an option of the agent's program
        prompt = f"\n{prompt}"
    return [word.replace(PROMPT, prompt) for word in command]


def _fits(argv: list[str]) -> bool:
    return max(len(word.encode()) for word in argv) <= _LONGEST_ARGUMENT


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
