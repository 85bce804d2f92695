"""An exec handler with every check on, and the same program through bare subprocess.run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
from bench_projects import executable, project
from measure import Row, beside, take_turns

from samuel.app import App, Overrides
from samuel.events import ContextExtra
from samuel.process.environment import clean
from samuel.trust.items import review

NOOP = """
#include <unistd.h>
int main(int count, char **words) {
  if (count > 1 && words[1][0] == 'h') write(1, "context.extra\\n", 14);
  return 0;
}
"""


def run(scratch: Path) -> Iterator[Row]:
    event = ContextExtra(task={"id": "1", "title": "x" * 800})
    with project(scratch) as root:
        program = noop(root / ".samuel/hooks/noop")
        with App(root, overrides=Overrides(trust_everything=True)) as app:
            app.trust.agree(agreed(root), at="", root=str(root))
        with App(root) as app:
            fired = app.fire(event)
            assert [call.outcome for call in fired.calls] == ["ok"], fired
            payload, environment = msgspec.json.encode(event), clean()

            def bare() -> None:
                subprocess.run(
                    [str(program), "run"],
                    input=payload,
                    capture_output=True,
                    cwd=root,
                    env=environment,
                    check=True,
                )

            mine, theirs = take_turns(lambda: app.fire(event), bare, rounds=600)
    yield beside("an exec handler, vs bare subprocess.run", mine, theirs)


def noop(path: Path) -> Path:
    """A static program that prints an event's name to `hook` and nothing to anything else."""
    source = path.parent.parent / "noop.c"
    source.write_text(NOOP)
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:  # a shell is slower to start for both sides alike
        return executable(path, '#!/bin/sh\n[ "$1" = hook ] && echo context.extra\nexit 0\n')
    subprocess.run([compiler, "-O2", "-static", "-w", "-o", path, source], check=True)
    return path


def agreed(root: Path) -> list[tuple[str, str, bytes]]:
    return [(item.name, item.digest, b"") for item in review(root, {})]
