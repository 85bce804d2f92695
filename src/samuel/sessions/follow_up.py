"""What becomes of the actions that hooks propose.

create_task   goes to the task queue, as if the person had typed it, unless there is such a task
open_file     is listed, for whoever can open files
run_command   runs if samuel.toml allows exactly this command, or if a person says yes; it waits otherwise
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection
from typing import NamedTuple

from msgspec.structs import replace

from samuel.errors import SamuelError
from samuel.sessions.session import DONE, FAILED, LISTED, FollowUp

WAITS = "it waits: `samuel session do` runs it, or `allow_commands` under [session] in samuel.toml, word for word"


class CommandResult(NamedTuple):
    ok: bool
    said: str


class FollowUpActions(NamedTuple):
    """Who does it."""

    add_task: Callable[[str], str]  # a title -> the new task's id
    run: Callable[[list[str]], CommandResult]
    allowed: Collection[str] = ()  # the commands that may run unasked
    confirm: Callable[[str], bool] | None = None  # a person, if there is one
    waits: str = WAITS  # what is said of a command that nobody allowed


def carry_out(action: FollowUp, desk: FollowUpActions) -> FollowUp:
    """The action with what became of it."""
    if action.kind == "create_task":
        return _create_task(action, desk)
    if action.kind == "run_command":
        return _run_command(action, desk)
    return replace(action, state=LISTED, note=_text(action, "path"))


def title(action: FollowUp) -> str:
    """In a few words, what it is about."""
    return _text(action, "title", "summary", "description", "command", "path") or "nothing in particular"


def described(action: FollowUp) -> str:
    """In one line, what it is and what became of it."""
    note = f": {action.note}" if action.note and action.note != title(action) else ""
    return f"follow-up {action.number}, {action.kind} `{title(action)}`: {action.state}{note}"


def _create_task(action: FollowUp, desk: FollowUpActions) -> FollowUp:
    wanted = _text(action, "title", "summary", "description")
    if not wanted:
        return replace(action, state=FAILED, note="it has no `title`")
    try:
        return replace(action, state=DONE, note=f"task `{desk.add_task(wanted)}`")
    except SamuelError as error:
        return replace(action, note=error.message)  # it stays in the queue


def _run_command(action: FollowUp, desk: FollowUpActions) -> FollowUp:
    command = _text(action, "command")
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        return replace(action, state=FAILED, note="it has no `command` that could be run")
    if command not in desk.allowed and not (desk.confirm and desk.confirm(f"A hook proposes to run: {command}")):
        return replace(action, note=desk.waits)
    ended = desk.run(words)
    return replace(action, state=DONE if ended.ok else FAILED, note=ended.said)


def _text(action: FollowUp, *keys: str) -> str:
    """The first of these that says something. A command may be a list of words."""
    for key in keys:
        value = action.payload.get(key)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            value = shlex.join(value)
        if isinstance(value, str) and value.strip() and "\0" not in value:
            return value.strip()
    return ""
