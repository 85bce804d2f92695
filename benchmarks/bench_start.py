"""`samuel --version` beside the bare interpreter of the same environment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import Row, beside, take_turns


def run(scratch: Path) -> Iterator[Row]:
    samuel = Path(sys.executable).with_name("samuel")

    def ours() -> None:
        subprocess.run([samuel, "--version"], capture_output=True, check=True)

    def bare() -> None:
        subprocess.run([sys.executable, "-c", "pass"], capture_output=True, check=True)

    mine, theirs = take_turns(ours, bare, rounds=60)
    yield beside("samuel --version, vs python -c pass", mine, theirs)
