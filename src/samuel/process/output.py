"""What the end and the output of a program say, in one line."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samuel.process.spawn import Finished


def last_line(text: str, otherwise: str) -> str:
    """The line of a traceback or an error output that says most: its last one that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else otherwise


def failure(finished: Finished) -> str:
    """Why a program did not succeed, in its own words as far as it wrote any; "" if it did."""
    if finished.ended == "exited" and finished.returncode == 0:
        return ""
    return finished.stderr.decode("utf-8", "replace").strip() or finished.why or finished.ended


def ending(returncode: int, stderr: str) -> str:
    """How a process ended: `exit code 1: last line of stderr`, or the name of the signal."""
    if returncode >= 0:
        how = f"exit code {returncode}"
    else:
        try:
            how = f"killed by {signal.Signals(-returncode).name}"
        except ValueError:
            how = f"killed by signal {-returncode}"
    stderr_line = last_line(stderr, "")
    return f"{how}: {stderr_line}" if stderr_line else how
