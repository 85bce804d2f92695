"""A home directory of a client for one process: the user's own one by links, but for the file with the hooks.

Some clients take hooks from their home directory only. What the process writes into a directory there goes to the
user's own one; a new file at the top is lost when the process ends.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from samuel.clients.entries.bridge_plan import HomeOverlay
from samuel.confine.sandbox import Private
from samuel.files import atomic


def overlay_home(own: Path, overlay: Path, replaced: tuple[str, ...]) -> None:
    """Make `overlay` look like the client's `own` directory, except for the names in `replaced`."""
    shutil.rmtree(overlay, ignore_errors=True)
    overlay.mkdir(parents=True, mode=0o700)
    with suppress(OSError):  # the client was never started before, so there is no such directory
        for name in os.listdir(own):
            if name not in replaced:
                (overlay / name).symlink_to(own / name)


def make_home(home: HomeOverlay) -> Private:
    """Make the home directory. In a sandbox its files and some directories can be read."""
    overlay_home(home.own, home.path, home.replaced)
    for name in home.links:
        link = home.path / name
        link.parent.mkdir(mode=0o700, exist_ok=True)
        link.symlink_to(home.own / name)
    for name, data in home.files.items():
        atomic.write_bytes(home.path / name, data, 0o600, durable=False)
    files = sorted(entry.name for entry in home.path.iterdir() if entry.is_file())
    return Private(str(home.path), (*files, *home.directories))
