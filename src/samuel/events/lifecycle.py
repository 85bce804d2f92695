"""Payloads and results of `samuel init`, `samuel sync` and the commands that read tasks."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from samuel.events import names
from samuel.events.event import Event, field


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result that most events accept. A missing `ok` means true."""

    ok: Annotated[bool, field("False: this handler failed.")] = True
    reason: Annotated[str | None, field("Why it failed.")] = None
    data: Annotated[
        dict[str, Any] | None,
        field("Merged into `context.Plugins[<own name>]` for later handlers and the prompt."),
    ] = None


class SyncVerdict(Verdict, frozen=True, kw_only=True):
    """The result of `sync.before`."""

    skip: Annotated[bool, field("True: do not sync this time.")] = False


class InitBefore(Event, frozen=True, kw_only=True, tag=names.INIT_BEFORE):
    """Fired by `samuel init` before anything is written."""

    force: Annotated[bool, field("Existing files may be overwritten.")] = False
    minimal: Annotated[bool, field("Only samuel.toml is written.")] = False


class InitAfter(Event, frozen=True, kw_only=True, tag=names.INIT_AFTER):
    """Fired by `samuel init` when the project is set up."""

    plugins_installed: Annotated[list[str], field("Names of the plugins that are installed in the project.")] = (
        msgspec.field(default_factory=list)
    )


class SyncBefore(Event, frozen=True, kw_only=True, tag=names.SYNC_BEFORE):
    """Fired by `samuel sync` before anything is written."""


class SyncAfter(Event, frozen=True, kw_only=True, tag=names.SYNC_AFTER):
    """Fired by `samuel sync` when it is done."""

    files_written: Annotated[list[str], field("Paths relative to the project.")] = msgspec.field(
        default_factory=list
    )


class TasksRead(Event, frozen=True, kw_only=True, tag=names.TASKS_READ):
    """Asks for the tasks of a source that is in no built-in format."""

    format: Annotated[str, field("The format that `--format` names; empty if none was named.")] = ""
    path: Annotated[str, field("The absolute path of the source; `-` is standard input.")]
    text: Annotated[str, field("The text of the source.", bulk=True)]


class LeftOutPart(msgspec.Struct, frozen=True, kw_only=True):
    """Something in a source that did not become a task, and may have been meant as one."""

    what: Annotated[str, field("What it is, and why it is not a task.")]
    line: Annotated[int, field("Its line, from 1; 0 where a line says nothing.")] = 0


class TaskReading(Verdict, frozen=True, kw_only=True):
    """The result of `tasks.read`. A handler that does not know the format returns no `format`."""

    format: Annotated[str | None, field("The name of the format that was read, as `--format` takes it.")] = None
    # Without a type of their own: wrong tasks get the messages of the built-in formats, with their lines.
    tasks: Annotated[
        list[dict[str, Any]],
        field(
            "The tasks. Each has `id` and `title`, and may have `line`, `description`, `status` (pending, "
            "in_progress, completed, skipped, blocked), `priority` (a word, or a whole number where 1 is first), "
            "`complexity`, `depends_on`, `acceptance`, `test_strategy`, `files_to_create`, `files_to_modify`, "
            "`guardrails` and `checks`.",
            bulk=True,
        ),
    ] = msgspec.field(default_factory=list)
    left_out: Annotated[list[LeftOutPart], field("What did not become a task.", bulk=True)] = msgspec.field(
        default_factory=list
    )
