"""The progress of a fetch on stderr: one line that changes on a terminal, a line for each step elsewhere."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from samuel.base.printable import safe
from samuel.cli.output import Output

if TYPE_CHECKING:
    from rich.status import Status


class Progress:
    def __init__(self, out: Output) -> None:
        self._out = out
        self._live = sys.stderr.isatty() and not out.json
        self._status: Status | None = None
        self._step = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self.done()

    def step(self, text: str) -> None:
        self._step = text
        if self._live:
            self._show(text)
        else:
            self._out.tell(text)

    def progress(self, text: str) -> None:
        if self._live:
            self._show(f"{self._step}  {text}")

    def done(self) -> None:
        """Remove the line, so that a question can be asked."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _show(self, text: str) -> None:
        from rich.console import Console  # only where there is a terminal to draw on
        from rich.text import Text

        status_text = Text(safe(text, keep=""))  # as Text: brackets are not markup
        if self._status is None:
            console = Console(stderr=True, color_system=None if os.environ.get("NO_COLOR") else "auto")
            self._status = console.status(status_text)
            self._status.start()
        else:
            self._status.update(status_text)
