"""What the output of a program says, in one line."""

from __future__ import annotations


def last_line(text: str, otherwise: str) -> str:
    """The line of a traceback or an error output that says most: its last one that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else otherwise
