"""Carry out the actions that hooks propose.

create_task   is added to the task queue, as if the user had typed it, unless there is such a task
open_file     is listed, for clients that can open files
run_command   runs if samuel.toml allows exactly this command or the user confirms it; it waits otherwise
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection
from typing import NamedTuple

from msgspec.structs import replace

from samuel.base.errors import SamuelError
from samuel.sessions.session import DONE, FAILED, LISTED, FollowUp

WAITS = (
    "it waits: `samuel session do` runs it; "
    "`allow_commands` under [session] in samuel.toml allows this exact command"
)


class CommandResult(NamedTuple):
    ok: bool
    summary: str


class FollowUpActions(NamedTuple):
    """The functions that carry follow-ups out."""

    add_task: Callable[[str], str]  # a title -> the new task's id
    run: Callable[[list[str]], CommandResult]
    allowed: Collection[str] = ()  # the commands that run without confirmation
    confirm: Callable[[str], bool] | None = None  # asks the user, if there is one
    waits: str = WAITS  # the note on a command that is not allowed


def carry_out(action: FollowUp, actions: FollowUpActions) -> FollowUp:
    """Carry the action out; returns it with its new state."""
    if action.kind == "create_task":
        return _create_task(action, actions)
    if action.kind == "run_command":
        return _run_command(action, actions)
    return replace(action, state=LISTED, note=_text(action, "path"))


def title(action: FollowUp) -> str:
    """What the action is about, in a few words."""
    return _text(action, "title", "summary", "description", "command", "path") or "(no title)"


def describe(action: FollowUp) -> str:
    """The action and its state, in one line."""
    note = f": {action.note}" if action.note and action.note != title(action) else ""
    return f"follow-up {action.number}, {action.kind} `{title(action)}`: {action.state}{note}"


def _create_task(action: FollowUp, actions: FollowUpActions) -> FollowUp:
    task_title = _text(action, "title", "summary", "description")
    if not task_title:
        return replace(action, state=FAILED, note="it has no `title`")
    try:
        return replace(action, state=DONE, note=f"task `{actions.add_task(task_title)}`")
    except SamuelError as error:
        return replace(action, note=error.message)  # it stays queued


def _run_command(action: FollowUp, actions: FollowUpActions) -> FollowUp:
    command = _text(action, "command")
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        return replace(action, state=FAILED, note="its `command` is missing or cannot be parsed")
    if command not in actions.allowed and not (
        actions.confirm and actions.confirm(f"A hook proposes to run: {command}")
    ):
        return replace(action, note=actions.waits)
    result = actions.run(words)
    return replace(action, state=DONE if result.ok else FAILED, note=result.summary)


def _text(action: FollowUp, *keys: str) -> str:
    """The first of these keys that is not empty. A command may be a list of words."""
    for key in keys:
        value = action.payload.get(key)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            value = shlex.join(value)
        if isinstance(value, str) and value.strip() and "\0" not in value:
            return value.strip()
    return ""
