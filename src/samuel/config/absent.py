"""Whether a file of settings exists. Asked before what reads it is imported: most users have none."""

from __future__ import annotations

import os
from pathlib import Path


def is_absent(file: Path) -> bool:
    """Whether there is no such file. One that cannot be looked at is there: its reader says what is wrong."""
    try:
        os.lstat(file)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False
