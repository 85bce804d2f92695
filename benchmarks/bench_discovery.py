"""Finding 1,000 executables: known ones beside bare scandir + stat, unknown ones beside the spawns alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_exec import noop
from measure import Row, Times, at_most, take_turns
from places import project, user

from samuel.app import App
from samuel.clock import SystemClock

COUNT = 1000


def run(scratch: Path) -> Iterator[Row]:
    with project(scratch) as root:
        hooks = root / ".samuel/hooks"
        first = noop(hooks / "hook-0000")
        for number in range(1, COUNT):
            (hooks / f"hook-{number:04}").write_bytes(first.read_bytes())
            (hooks / f"hook-{number:04}").chmod(0o755)
        with App(root) as app:
            from bench_exec import _agreed

            app.trust.agree(_agreed(root), at="", root=str(root))

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

        def cold() -> float:
            started = clock.monotonic()
            discovered(root)
            return clock.monotonic() - started

        alone = spawns()
        first_time = cold()
        alone = min(alone, spawns())
        warm, scanned = take_turns(lambda: discovered(root), bare, rounds=60)
    yield at_most(f"discovery of {COUNT:,} known executables, vs scandir + stat", warm, scanned, 2)
    yield at_most(
        f"discovery of {COUNT:,} unknown executables, vs the spawns alone",
        Times(first_time, first_time),
        Times(alone, alone),
        1.3,
    )


def discovered(root: Path) -> int:
    with App(root, user=user()) as app:
        return len(app.found)
