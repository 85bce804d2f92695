"""Finding 1,000 executables: known ones beside bare scandir + stat, unknown ones beside the spawns alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_exec import agreed
from bench_projects import executable, project
from measure import Row, Times, at_most, take_turns

from samuel.app import App
from samuel.base.clock import SystemClock
from samuel.hooks.handler import Handler
from samuel.sources.discover import discover
from samuel.trust.permit import Permit

COUNT = 1000
SCRIPT = '#!/bin/sh\n[ "$1" = hook ] && echo context.extra\nexit 0\n'


def run(scratch: Path) -> Iterator[Row]:
    with project(scratch) as root:
        hooks = root / ".samuel/hooks"
        for number in range(COUNT):
            executable(hooks / f"hook-{number:04}", SCRIPT)
        with App(root) as app:
            app.trust.agree(agreed(root), at="", root=str(root))

        def bare() -> None:
            with os.scandir(hooks) as entries:
                for entry in entries:
                    entry.stat()

        clock = SystemClock()

        def spawns() -> float:
            started = clock.monotonic()
            with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as threads:
                list(
                    threads.map(
                        lambda number: subprocess.run([hooks / f"hook-{number:04}", "hook"], capture_output=True),
                        range(COUNT),
                    )
                )
            return clock.monotonic() - started

        alone = spawns()
        started = clock.monotonic()
        with App(root) as app:
            first_time = clock.monotonic() - started
            alone = (alone + spawns()) / 2
            assert len(discovered(app)) == COUNT
            warm, scanned = take_turns(lambda: discovered(app), bare, rounds=60)
    yield at_most(f"discovery of {COUNT:,} known executables, vs scandir + stat", warm, scanned, 2)
    yield at_most(
        f"discovery of {COUNT:,} unknown executables, vs the spawns alone",
        Times(first_time, first_time),
        Times(alone, alone),
        1.3,
    )


def discovered(app: App) -> tuple[Handler, ...]:
    """All that discovery does when a project is opened, trust included."""
    app.permit = Permit(app.paths.root, app.trust.pin())
    return discover(app.discovery.context())
