"""Install the clients that are Python programs: `python tests/live/install_python.py [CLIENT...]`.

Each gets an environment of its own below SAMUEL_CLIENTS, and a link in its `bin`.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

from install import clients_directory


class Distribution(NamedTuple):
    """What is installed for a client, and its program."""

    requirements: tuple[str, ...]
    program: str


DISTRIBUTIONS = {
    "aider": Distribution(("aider-chat==0.86.2",), "aider"),
    # Its library for models imports `mcp`, and does not ask for it.
    "mini-swe-agent": Distribution(("mini-swe-agent==2.4.6", "mcp"), "mini"),
}


def install(client: str, directory: Path) -> str:
    """Install one client unless these requirements are met; returns what was done."""
    distribution = DISTRIBUTIONS[client]
    place = directory / "packages" / client
    stamp, requirements = place / "installed", "\n".join(distribution.requirements)
    if stamp.is_file() and stamp.read_text() == requirements:
        return f"{client} is there"
    venv.create(place, clear=True, with_pip=True)
    pip = (place / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, *distribution.requirements], check=True, stdout=subprocess.DEVNULL)
    link = directory / "bin" / distribution.program
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(place / "bin" / distribution.program)
    stamp.write_text(requirements)
    return f"installed {client}"


def main() -> int:
    failed = False
    for client in sys.argv[1:] or DISTRIBUTIONS:
        try:
            print(install(client, clients_directory()), flush=True)
        except (OSError, subprocess.CalledProcessError) as error:
            failed = True
            print(f"could not install {client}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
