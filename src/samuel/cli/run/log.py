from __future__ import annotations

import codecs
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, TextIO

import click

from samuel.agents.process_files import errors_path, log_path, written_log
from samuel.base import paths
from samuel.base.clock import SystemClock
from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.cli.command_context import CommandContext, command
from samuel.cli.run.selection import RunsOfProject
from samuel.clients.adapter.stream import PlainStream, ReadableLog, StreamFactory
from samuel.display.agent_log import log_chunks, stream_of
from samuel.history.run import Run
from samuel.process.live import is_live
from samuel.setup.run_state import run_file

POLL = 0.25  # seconds between two looks at a log that is followed

LogWriter = Callable[[bytes], None]


class AgentLog(NamedTuple):
    """What the agent of one iteration wrote."""

    run_id: str
    iteration: int
    path: Path  # of its stdout; stderr is beside it

    @property
    def errors(self) -> Path:
        return errors_path(self.path)


@command()
@click.argument("name", metavar="[RUN|TASK]", default="")
@click.option(
    "--iteration", type=click.IntRange(1), metavar="N", help="Of which iteration; without it the last one."
)
@click.option("-f", "--follow", is_flag=True, help="Go on with what the agents of the current run write.")
@click.option("--raw", is_flag=True, help="Print the bytes as the agent wrote them.")
def log(here: CommandContext, name: str, iteration: int | None, follow: bool, raw: bool) -> int:
    """Print what an agent wrote.

    That is the agent of the last iteration of a run, or of the last attempt at a task. RUN is the beginning of a
    run's id; without an argument, it is the current or the last run. What it wrote to stderr comes last.

    \b
        samuel run log -f
    """
    runs = RunsOfProject.here(here)
    current = run_file(runs.state).load()
    agent_log = _selected(runs, current, name, iteration)
    if here.out.json:
        file = (written_log(agent_log.path) or agent_log.path).relative_to(runs.root)
        return here.out.answer(
            {
                "run_id": agent_log.run_id,
                "iteration": agent_log.iteration,
                "log": str(file),
                "text": _text(runs.state, agent_log.path),
                "stderr": _text(runs.state, agent_log.errors),
            }
        )
    write = partial(_write_raw, sys.stdout) if raw else readable_writer(_stream(here, runs, current, agent_log))
    if follow and current is not None and agent_log.run_id == current.run_id:
        _follow(runs.state, agent_log, write, raw)
    else:
        for chunk in log_chunks(runs.state, agent_log.path):
            write(chunk)
        _print_errors(runs.state, agent_log, raw)
    return 0


def _selected(runs: RunsOfProject, current: Run | None, name: str, iteration: int | None) -> AgentLog:
    """The log that the arguments mean. Raises SamuelError if there is none, and no run that could write it."""
    run_id, last = (current.run_id, current.iteration) if current and not name else ("", 0)
    if not run_id:
        selection = runs.select(name)
        if selection.task_id:
            attempts = runs.attempts(selection.task_id)
            attempts = [attempt for attempt in attempts if iteration in (None, attempt.iteration)]
            if not attempts:
                raise SamuelError(
                    f"no agent has worked on task `{name}` yet", "`samuel run history` lists the runs"
                )
            run_id, last = attempts[-1].run_id, attempts[-1].iteration
        else:
            run_id = selection.run_id
            last = max((attempt.iteration for attempt in runs.history.load(run_id).attempts), default=0)
            if current and current.run_id == run_id:
                last = max(last, current.iteration)
    number = iteration or last
    path = log_path(runs.state, run_id, number, "output")
    running = current is not None and current.run_id == run_id and not current.over
    if written_log(path) is None and not running:
        hint = "the agent wrote nothing, or its log was removed to make room"
        raise SamuelError(f"`{path.relative_to(runs.root)}` does not exist", hint)
    return AgentLog(run_id, number, path)


def _stream(here: CommandContext, runs: RunsOfProject, current: Run | None, agent_log: AgentLog) -> StreamFactory:
    """How the output of the agent that wrote this log is read; as plain text if that agent is gone."""
    agents = {
        attempt.iteration: attempt.agent for attempt in runs.attempts() if attempt.run_id == agent_log.run_id
    }
    return stream_of(here.root, agents.get(agent_log.iteration) or (current.agent if current else ""))


def _follow(state: Path, agent_log: AgentLog, write: LogWriter, raw: bool) -> None:
    """Print a log as it grows, then those of the iterations after it, until the run ends."""
    live = paths.User.from_environment().live
    file, position = run_file(state), 0
    while True:
        run = file.load()
        ended = run is None or run.run_id != agent_log.run_id or run.over or not is_live(live, run.run_id)
        wrote = False
        for chunk in log_chunks(state, agent_log.path, position):
            position, wrote = position + len(chunk), True
            write(chunk)
        if wrote:
            continue
        if run is not None and run.run_id == agent_log.run_id and run.iteration > agent_log.iteration:
            _print_errors(state, agent_log, raw)
            number = agent_log.iteration + 1
            agent_log = AgentLog(run.run_id, number, log_path(state, run.run_id, number, "output"))
            position = 0
            print(f"--- iteration {number} ---", flush=True)
        elif ended:
            _print_errors(state, agent_log, raw)
            return
        else:
            SystemClock().sleep(POLL)


def _print_errors(state: Path, agent_log: AgentLog, raw: bool) -> None:
    """Print what the agent wrote to stderr; raw, it goes to stderr, so that stdout can be read by programs."""
    write = partial(_write_raw, sys.stderr) if raw else readable_writer(PlainStream)
    has_output = agent_log.path.is_file()
    for number, chunk in enumerate(log_chunks(state, agent_log.errors)):
        if has_output and not raw and number == 0:
            print("--- stderr ---", flush=True)
        write(chunk)


def _text(state: Path, path: Path) -> str:
    return b"".join(log_chunks(state, path)).decode("utf-8", "replace")


def readable_writer(stream: StreamFactory) -> LogWriter:
    """Prints what an agent wrote as a person would read it, without what a terminal might act on."""
    if stream is PlainStream:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        return lambda chunk: _print(safe(decode(chunk)))
    log = ReadableLog(stream)
    return lambda chunk: _print("".join(f"{line}\n" for line in log.feed(chunk)))


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _write_raw(stream: TextIO, chunk: bytes) -> None:
    stream.flush()
    stream.buffer.write(chunk)
    stream.buffer.flush()
