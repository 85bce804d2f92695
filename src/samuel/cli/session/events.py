"""`samuel session start`, `prompt`, `stop` and `end`: each fires one event of a session."""

from __future__ import annotations

import click
from msgspec import UNSET

from samuel.app import App
from samuel.base.printable import file_name
from samuel.cli.command_context import CommandContext, command, env_option
from samuel.cli.json_input import read_text
from samuel.cli.output import fields_of
from samuel.cli.session.options import chosen, id_option, stage_option
from samuel.events import SessionEnd, SessionStop, UserPromptSubmit
from samuel.events.event import Stage
from samuel.sessions.follow_up import describe
from samuel.sessions.recorder import RecordedEvent
from samuel.sessions.session import Session


@command()
@click.option("--id", "id", metavar="ID", default="", help="The id of the session; a new one by default.")
@env_option
def start(here: CommandContext, id: str, environment: str) -> int:
    """Start a session.

    \b
        samuel session start --id s1
    """
    with here.open(environment=environment) as app:
        id = id or app.clock.new_id("sess")
        recorded = app.session_recorder(here.confirm).begin(id)
    return _answer(here, app, recorded, f"session `{id}` has begun")


@command()
@click.argument("text")
@click.option(
    "--file", "files", multiple=True, metavar="FILE", help="A file that the prompt is about; can be repeated."
)
@id_option
@stage_option
@env_option
def prompt(
    here: CommandContext, text: str, files: tuple[str, ...], id: str, stage: Stage | None, environment: str
) -> int:
    """Fire UserPromptSubmit with the user's prompt.

    Prints what the hooks suggest. `-` reads the text from stdin.

    \b
        samuel session prompt "Run the billing regression tests"
    """
    session = chosen(here, id)
    touched = list(files) if files else UNSET
    event = UserPromptSubmit(user_message=read_text(text), files_touched=touched, stage=stage or UNSET)
    with here.open(environment=environment) as app:
        recorded = app.session_recorder(here.confirm).fire(session.id, event)
    return _answer(here, app, recorded, "\n".join(hints(recorded.session)) or "the hooks suggest nothing")


@command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--changed", multiple=True, metavar="FILE", help="A file that was changed; can be repeated.")
@id_option
@env_option
def stop(here: CommandContext, files: tuple[str, ...], changed: tuple[str, ...], id: str, environment: str) -> int:
    """Fire SessionStop with the files that were changed.

    Files are named from the project's root. By default, the files that changed since the session started,
    according to git.

    \b
        samuel session stop --changed services/billing/invoice.ts
    """
    session = chosen(here, id)
    with here.open(environment=environment) as app:
        paths = [file_name(path) for path in (*changed, *files)]
        recorded = app.session_recorder(here.confirm).fire(session.id, SessionStop(changed_files=paths or UNSET))
    return _answer(here, app, recorded, f"session `{session.id}` has stopped")


@command()
@id_option
@env_option
def end(here: CommandContext, id: str, environment: str) -> int:
    """End a session.

    \b
        samuel session end
    """
    session = chosen(here, id)
    with here.open(environment=environment) as app:
        recorded = app.session_recorder(here.confirm).fire(session.id, SessionEnd())
    return _answer(here, app, recorded, f"session `{session.id}` has ended")


def hints(session: Session) -> list[str]:
    """The suggestions of hooks for routing, a line each."""
    named = [("ability", "id", suggestion) for suggestion in session.suggestions]
    named += [("document", "path", document) for document in session.documents]
    lines = [f"{kind} `{hint[key]}`: {hint.get('reason') or 'no reason given'}" for kind, key, hint in named]
    return [*lines, f"intent `{session.intent['intent']}`"] if session.intent else lines


def _answer(here: CommandContext, app: App, recorded: RecordedEvent, done: str) -> int:
    """Print the result of a session command; returns 1 if a hook stopped it."""
    fired, session = recorded.fired, recorded.session
    here.out.tell(*fired.messages, *map(describe, recorded.follow_ups))
    data = {"session": session.id, "state": session.state, "ok": not fired.stopped}
    data |= {**fields_of(fired, "reason", "result"), **fields_of(recorded, "follow_ups")}
    text = f"stopped: {fired.reason}" if fired.stopped else done
    warnings = [*fired.warnings, *app.unasked_hooks(fired), *app.warnings]
    return here.out.answer(data, text, ok=not fired.stopped, warnings=warnings)
