"""How a process ended, in plain words."""

from __future__ import annotations

import signal

from samuel.process.output import last_line


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
