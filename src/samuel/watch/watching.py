"""Shows the view of a run on this terminal until its user leaves it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from samuel.base.errors import SamuelError
from samuel.setup.watched_run import run_watcher
from samuel.watch.guarded_terminal import guarded_terminal
from samuel.watch.run_actions import RunActions

EXTRA = "pip install 'samuel-loop[watch]'"


def has_terminal() -> bool:
    """Whether a view can be shown: it reads keys, and draws."""
    return (
        all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)) and os.environ.get("TERM") != "dumb"
    )


def refuse_without_library() -> None:
    """Raise SamuelError if the library that draws the view is not installed."""
    try:
        import textual  # noqa: F401  an extra
    except ImportError:
        raise SamuelError("the view needs Textual, which is not installed", f"install it with `{EXTRA}`") from None


def watch_run(root: Path, methodology: str = "") -> str:
    """Show the current or the last run of a project. Why the view ended; "" if its user left it."""
    refuse_without_library()
    from samuel.watch.view import RunView  # with the library

    with guarded_terminal() as guard:
        view = RunView(run_watcher(root, methodology), RunActions(root, methodology), guard)
        why = view.run(mouse=False)
    if view.failure is not None:
        raise view.failure
    return why or ""
