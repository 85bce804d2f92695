"""`samuel emit`, once its command line is read: the event is fired in this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from samuel.base.errors import UsageError
from samuel.cli.command_context import CommandContext
from samuel.cli.endings import with_endings
from samuel.cli.output import Output
from samuel.emit.call import DENY, LARGEST_STDIN, EmitAnswer, EmitArguments
from samuel.emit.host import EmitHost, leave_to_client, proof_guards, roots_of
from samuel.process.emit_client import OFF, SWITCH

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.emit.host import ReadStdin

    Answering = Callable[[Sequence[str], EmitArguments, ReadStdin, EmitHost], EmitAnswer]


def emit_plain(arguments: EmitArguments, words: Sequence[str]) -> int:
    """Run a plain command line of `samuel emit` and return its exit code, without the parser of all the others."""
    out = Output()
    return with_endings(out, words, lambda: emit_event(CommandContext(Path("."), out), arguments))


def emit_event(here: CommandContext, arguments: EmitArguments) -> int:
    """Fire the event and print the answer; the exit code."""
    here.out.failure, answering = _answering(arguments)
    host = EmitHost(
        root=lambda: here.root,
        opened=lambda arguments: _opened(here, arguments),
        firing=lambda app, event, unanswered: None,
        confirm=here.confirm,
        indented=sys.stdout.isatty(),
    )
    answer = answering(sys.argv[1:], arguments, lambda: _stdin(arguments), host)
    here.out.failure = answer.failure
    for stream, text in answer.output:
        here.out.write(stream, text)
    return answer.exit_code


def _stdin(arguments: EmitArguments) -> bytes:
    if sys.stdin.isatty() and not arguments.client:
        return b""
    data: bytes | None = sys.stdin.buffer.read(LARGEST_STDIN + 1)
    if data is None:
        raise UsageError("stdin has nothing to read yet, and does not block", "use a file or a blocking pipe")
    return data


def _answering(arguments: EmitArguments) -> tuple[int, Answering]:
    """The exit code of failures, and what answers. This imports the engine."""
    if arguments.client:
        from samuel.emit.client_event import answer_client  # the dialects of all clients, only for a client

        return DENY, answer_client
    from samuel.emit.event import answer_event, failure_code  # only for events of Samuel itself

    return failure_code(arguments.event), answer_event


@contextmanager
def _opened(here: CommandContext, arguments: EmitArguments) -> Iterator[App]:
    roots = roots_of(here.root, os.environ.get("PWD", ""))
    ask = leave_to_client if arguments.client else here.confirm
    from samuel.app import Machine, Overrides  # the engine, which many calls do without

    machine = Machine(forks=True)
    guards = proof_guards(machine.user)
    overrides = Overrides(environment=arguments.environment, enclosing=roots[1:], user_guards=guards)
    with here.open(ask=ask, machine=machine, overrides=overrides) as app:
        yield app
    if os.environ.get(SWITCH) == OFF:
        return
    from samuel.emit.serve.start import start_for  # once the answer is known

    start_for(app)
