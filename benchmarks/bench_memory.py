"""Memory after 10,000 events: flat, or something is kept that is never asked for again."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

from bench_projects import project
from measure import Row

from samuel.app import App, Overrides
from samuel.events import ContextExtra


def run(scratch: Path) -> Iterator[Row]:
    event = ContextExtra(task={"id": "1", "title": "a task"})
    with project(scratch) as root:
        (root / ".samuel/hooks/note.py").write_text(
            'import samuel\n@samuel.hook("context.extra")\ndef note(event):\n    return {"extras": []}\n'
        )
        with App(root, overrides=Overrides(trust_everything=True)) as app:
            for _ in range(2_000):
                app.fire(event)
            before = resident()
            for _ in range(10_000):
                app.fire(event)
            after = resident()
    grown = (after - before) / 1024
    yield Row(
        "memory after 10,000 events",
        f"{after / 1024:.0f} KiB",
        f"{before / 1024:.0f} KiB",
        f"{grown:+.0f} KiB",
        "flat (<= 1024 KiB)",
        grown <= 1024,
    )


def resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
