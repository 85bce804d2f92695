"""The reader of shell commands, and the decision of shell_guard, one by one on 10,000 commands.

The commands are those of everyday work and those that try to hide something, from the tests. A call of the guard
is what the warm server does for a call of an agent, without the way there; a rule that asks git about the project
starts git.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

from bench_shell import valid_commands
from measure import Row, below, times

from samuel.events import PreAbilityCall
from samuel.events.event import Plugin
from samuel.shell import commands
from samuel.shipped.shell_guard.hook import hook

EVERYDAY = Path(__file__).parents[1] / "tests" / "shipped" / "everyday_commands.txt"
COUNT = 10_000


def run(scratch: Path) -> Iterator[Row]:
    lines = EVERYDAY.read_text(encoding="utf-8").splitlines()
    everyday = [line.replace("\\n", "\n") for line in lines if line and not line.startswith("#")]
    texts = list(islice(cycle((*everyday, *valid_commands())), COUNT))
    root = scratch / "home" / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").touch()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    os.environ["HOME"] = str(scratch / "home")
    plugin = Plugin(name="shell_guard", config={}, data_dir="")

    def decide(text: str) -> None:
        call = {"ability_id": "shell", "tool_input": {"command": text}}
        hook(PreAbilityCall(**call, project_root=str(root), plugin=plugin))

    yield below(
        f"reading a shell command, {COUNT:,} of them, p50 and p95", times(measured(commands, texts)), 0.002
    )
    yield below(
        f"a decision of shell_guard, {COUNT:,} of them, p50 and p95", times(measured(decide, texts)), 0.002
    )


def measured(call: Callable[[str], object], texts: list[str]) -> list[float]:
    call(texts[0])  # what is loaded once is not part of a call
    seconds = []
    for text in texts:
        start = time.perf_counter()
        call(text)
        seconds.append(time.perf_counter() - start)
    return seconds
