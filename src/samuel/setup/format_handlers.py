"""Asking the handlers of `tasks.read` for the tasks of a source that is in no built-in format."""

from __future__ import annotations

import os
from collections.abc import Callable

from samuel.app import App
from samuel.base.errors import SamuelError
from samuel.events import TasksRead, names
from samuel.hooks.handler import HandlerStatus
from samuel.tasks.formats.handler_format import HandlerFormats, handler_formats
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.importing import STDIN, AskHandlers


def format_handlers(open_app: Callable[[], App]) -> AskHandlers:
    """A function that opens the project and asks; where nothing could answer, no event is fired."""

    def ask(source: TaskSource, format_name: str) -> HandlerFormats:
        path = os.path.abspath(source.path) if source.path else STDIN
        event = TasksRead(format=format_name, path=path, text=source.text)
        with open_app() as app:
            fired = app.fire(event) if app.chains[names.TASKS_READ].steps else None
            called = {call.handler.name for call in fired.calls} if fired else set()
            not_trusted = [
                f"`{handler.name}` was not asked: {handler.reason}"
                for handler in app.handlers
                if handler.status is HandlerStatus.UNTRUSTED
                and handler.event in ("", names.TASKS_READ)
                and handler.name not in called
            ]
            notes = [*(fired.warnings if fired else ()), *not_trusted, *app.unasked_hooks(fired), *app.warnings]
        if fired is None:
            return HandlerFormats((), tuple(notes))
        if fired.stopped:
            raise SamuelError(f"a hook of `tasks.read` failed: {fired.reason}", "`samuel hooks log` shows more")
        answers = handler_formats(fired.result["candidates"], format_name)
        return answers._replace(notes=(*answers.notes, *notes))

    return ask
