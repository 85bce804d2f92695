"""A home directory of a client for one process: the user's own one by links, but for the file with the hooks.

Some clients take hooks from their home directory only. What the process writes there into a directory goes to the
user's own one; a file that it makes anew is gone with the process.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from samuel.process.sandbox import Private


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


def own_home(host_variables: dict[str, str], variable: str, default: str) -> Path:
    """The client's own directory, as the user's environment names it."""
    home = host_variables.get("HOME") or "/"
    return Path(host_variables.get(variable) or os.path.join(home, default))
