"""A home directory of a client for one process: the user's own one by links, but for the file with the hooks.

Some clients take hooks from their home directory only. What the process writes into a directory there goes to the
user's own one; a new file at the top is lost when the process ends.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from samuel.confine.sandbox import Private


def overlay_home(own: Path, overlay: Path, replaced: tuple[str, ...]) -> None:
    """Make `overlay` look like the client's `own` directory, except for the names in `replaced`."""
    shutil.rmtree(overlay, ignore_errors=True)
    overlay.mkdir(parents=True, mode=0o700)
    with suppress(OSError):  # the client was never started before, so there is no such directory
        for name in os.listdir(own):
            if name not in replaced:
                (overlay / name).symlink_to(own / name)


def as_private(overlay: Path, directories: tuple[str, ...] = ()) -> Private:
    """The overlay in a sandbox: its files and these directories can be read, and what is written there is lost."""
    files = sorted(entry.name for entry in overlay.iterdir() if entry.is_file())
    return Private(str(overlay), (*files, *directories))
