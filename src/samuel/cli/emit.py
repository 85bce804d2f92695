from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from samuel.cli.command_context import CommandContext, env_option
from samuel.emit import without_engine
from samuel.emit.call import DENY, EmitAnswer, EmitArguments
from samuel.emit.host import EmitHost, leave_to_client
from samuel.files.parsed_json import MAX_BYTES
from samuel.process.emit_client import DEADLINE_OPTION, LONGEST_DEADLINE

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.emit.host import ReadStdin

    Answering = Callable[[Sequence[str], EmitArguments, ReadStdin, EmitHost], EmitAnswer]


@click.command()
@click.argument("event")
@click.option(
    *("--as", "client"),
    metavar="CLIENT",
    default="",
    help="EVENT, stdin and the answer are those of this agent's own hooks: claude, codex, gemini, …",
)
@click.option(
    "--session",
    metavar="ID",
    default="",
    help="The session that the event belongs to; results of hooks are stored there.",
)
@env_option
@click.option(
    DEADLINE_OPTION,
    metavar="SECONDS",
    type=click.IntRange(1, LONGEST_DEADLINE),
    help="End after this time, whatever hooks are doing. Without an answer, the hooks of an agent deny.",
)
@click.pass_obj
def emit(
    here: CommandContext, event: str, client: str, session: str, environment: str, deadline: int | None
) -> int:
    """Fire an event from any program or agent.

    The context is a JSON object on stdin, with the event's fields; the merged result comes on stdout. Exits with 0
    to go on and with 2 to stop, the reason on stderr. On an event that can be denied, whatever goes wrong here
    stops it too. Inside an agent that Samuel runs, its session and its recipe are filled in if the context does
    not name others.

    With `--as`, EVENT is an event of that agent's own hooks, stdin is its payload, and the answer is the one that
    this agent expects; an error denies in the agent's own way.

    \b
        samuel emit UserPromptSubmit --session s1 < context.json
        samuel emit --as claude PreToolUse < payload.json
    """
    if deadline:  # where it is not the last option: else it counts already
        signal.alarm(deadline)
    arguments = EmitArguments(event, client, session, environment)
    here.out.failure, answering = _of_client() if client else _of_samuel(event)
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
    return b"" if sys.stdin.isatty() and not arguments.client else sys.stdin.buffer.read(MAX_BYTES + 1)


# The engine is imported here, and the dialects of all clients only for a client.


def _of_client() -> tuple[int, Answering]:
    from samuel.emit.client_event import answer_client

    return DENY, answer_client


def _of_samuel(event: str) -> tuple[int, Answering]:
    from samuel.emit.event import answer_event, failure_code

    return failure_code(event), answer_event


@contextmanager
def _opened(here: CommandContext, arguments: EmitArguments) -> Iterator[App]:
    before = without_engine.deciding(here.root)
    ask = leave_to_client if arguments.client else here.confirm
    with here.open(environment=arguments.environment, ask=ask) as app:
        yield app
        without_engine.remember(app, arguments.environment, before)  # the next time the engine may not be needed
    from samuel.serve.start import start_for  # once the answer is known

    start_for(app)
