"""A warm Python handler, and spawning Python for the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench_projects import project
from measure import Row, below, faster, take_turns

from samuel.app import App, Overrides
from samuel.events import ContextExtra

HOOK = """
import samuel

@samuel.hook("context.extra")
def note(event):
    return {"extras": [{"name": "note.md", "content": event.task["title"]}]}
"""


def run(scratch: Path) -> Iterator[Row]:
    event = ContextExtra(task={"id": "1", "title": "x" * 700})
    with project(scratch) as root:
        (root / ".samuel/hooks/note.py").write_text(HOOK)
        with App(root, overrides=Overrides(trust_everything=True)) as app:
            assert app.fire(event).result["extras"]

            def spawn() -> None:
                subprocess.run([sys.executable, "-c", "pass"], capture_output=True, check=True)

            warm, cold = take_turns(lambda: app.fire(event), spawn, rounds=200)
            warm, _ = take_turns(lambda: app.fire(event), lambda: None, rounds=200, inner=20)
    yield faster("a warm python handler at 1 KB, vs spawning python", warm, cold)
    yield below("the same by itself", warm, 150e-6)
