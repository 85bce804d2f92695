"""Run an agent once: a fresh process with one prompt, in its sandbox, until it exits or its time is up."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.agents import desk
from samuel.agents.agent import PROMPT, PROMPT_FILE, Agent, Usage
from samuel.agents.variables import assemble
from samuel.process import confine, spawn
from samuel.process.reason import NotRunnable

TAIL = 8 * 1024
TIMED_OUT = 124  # what `timeout` of coreutils says

_LONGEST_ARGUMENT = 128 * 1024 - 1  # Linux: MAX_ARG_STRLEN, with the byte that ends it
_NO_LIMIT = 1 << 62  # an agent may say as much as it likes: it goes to the log, and only the tail is held
_GRACE = 2.0  # seconds between asking it to end and ending it: agents have sessions to save
_NOTHING: Mapping[str, str] = MappingProxyType({})

# So that `samuel` works where a sandbox hides /tmp, should it be installed there.
_SAMUEL = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]))


class Invoked(NamedTuple):
    exit_code: int
    """The agent's own; 128 and the signal's number when it was killed, 124 at the timeout."""
    stdout_tail: str
    stderr_tail: str
    stdout_path: str
    """Everything it said on stdout; stderr is beside it, with the ending `.err`, if there was any."""
    usage: Usage
    duration: float
    timed_out: bool
    notes: tuple[str, ...] = ()
    """What the user should know: variables that were left out."""


def invoke(
    agent: Agent,
    *,
    prompt: str,
    env: Mapping[str, str],
    sandbox: confine.Sandbox,
    root: Path,
    state: Path,
    iteration: int,
    timeout: float,
    environment: Mapping[str, str],
    variables: Mapping[str, str] = _NOTHING,
    on_output: Callable[[bytes], None] | None = None,
    cache: Path | None = None,
) -> Invoked:
    """Run the agent in `root`. Raises NotRunnable when it could not be started at all.

    `env` is the event's, with references to `environment`, the host's; `variables` are this run's own
    (`SAMUEL_TASK_ID` and the like) and stand above both. `state` is the run's state directory. Output goes to
    `on_output` as it comes.
    """
    root, state = root.absolute(), state.absolute()
    argv, stdin = _told(agent, prompt, state, iteration)
    if sandbox.kind != confine.HOST:
        variables = {**variables, **agent.confined}
    full, notes = assemble(agent, env, environment, variables, desk.put_samuel(state))
    place = confine.Place(root, state, environment, cache, _SAMUEL)
    log = desk.log(state, iteration)
    with (
        desk.fresh(log) as stdout,
        desk.fresh(log.with_suffix(".err")) as stderr,
        confine.confined(argv, sandbox, place, full) as command,
    ):
        finished = spawn.run(
            command.argv,
            cwd=str(root),
            env=command.env,
            stdin=stdin,
            timeout=timeout,
            output_limit=_NO_LIMIT,
            grace=_GRACE,
            on_output=on_output,
            stdout_to=stdout,
            stderr_to=stderr,
            keep=TAIL,
        )
        usage = agent.usage(desk.lines(stdout)) if agent.usage else {}
    if finished.ended == "not_started":
        raise NotRunnable(f"the agent `{agent.name}` was not started: {finished.why}", agent.install)
    return Invoked(
        exit_code=_exit_code(finished),
        stdout_tail=finished.stdout.decode("utf-8", "replace"),
        stderr_tail=finished.stderr[-TAIL:].decode("utf-8", "replace"),
        stdout_path=str(log),
        usage=usage,
        duration=finished.duration,
        timed_out=finished.ended == "timed_out",
        notes=tuple(notes),
    )


def _told(agent: Agent, prompt: str, state: Path, iteration: int) -> tuple[list[str], bytes]:
    """The argv and the stdin that carry the prompt."""
    if agent.prompt == "stdin":
        return list(agent.command), prompt.encode()
    if agent.prompt == "file":
        file = str(desk.put_prompt(state, iteration, prompt))
        return [word.replace(PROMPT_FILE, file) for word in agent.command], b""
    argv = [word.replace(PROMPT, prompt) for word in agent.command]
    if max(len(word.encode()) for word in argv) > _LONGEST_ARGUMENT:
        raise NotRunnable(
            f"the agent `{agent.name}` gets its prompt as an argument, and {len(prompt.encode())} bytes are more "
            f"than the {_LONGEST_ARGUMENT} that the system takes",
            'Give it the prompt by `prompt = "stdin"` or `prompt = "file"`.',
        )
    return argv, b""


def _exit_code(finished: spawn.Finished) -> int:
    if finished.ended == "timed_out":
        return TIMED_OUT
    return finished.returncode if finished.returncode >= 0 else 128 - finished.returncode
