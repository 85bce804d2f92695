"""Install the clients of the live suite from their registry: `python tests/live/install.py [CLIENT...]`.

Each client gets a directory of its own below SAMUEL_CLIENTS, and a link in its `bin`. No script of a package runs:
a program that such a script would copy is linked from the package that brings it. The versions are those that
Samuel was checked against; `--latest` takes the newest ones.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
PLATFORM = f"{platform.system().lower()}-{MACHINES.get(platform.machine().lower(), platform.machine())}"


class Package(NamedTuple):
    """A package of the registry, and its program below `node_modules`."""

    name: str
    version: str
    program: str


PACKAGES = {
    # Most clients are programs for node, and need a newer one than many machines have.
    "node": Package(f"node-{PLATFORM}", "24.21.0", f"node-{PLATFORM}/bin/node"),
    "claude": Package("@anthropic-ai/claude-code", "2.1.326", f"@anthropic-ai/claude-code-{PLATFORM}/claude"),
    "codex": Package("@openai/codex", "0.169.0", ".bin/codex"),
    "gemini": Package("@google/gemini-cli", "0.61.0", ".bin/gemini"),
    "qwen": Package("@qwen-code/qwen-code", "0.24.4", ".bin/qwen"),
    "copilot": Package("@github/copilot", "1.0.102", ".bin/copilot"),
    "opencode": Package("opencode-ai", "1.18.33", f"opencode-{PLATFORM}/bin/opencode"),
    "kimi": Package("@moonshot-ai/kimi-code", "2.1.0", ".bin/kimi"),
    "cline": Package("cline", "3.0.65", ".bin/cline"),
    "grok": Package("@xai-official/grok", "1.0.41", ".bin/grok"),
    "pi": Package("@mariozechner/pi-coding-agent", "0.73.1", ".bin/pi"),
}


def clients_directory() -> Path:
    """SAMUEL_CLIENTS, or a directory below the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("SAMUEL_CLIENTS") or Path(cache, "samuel-clients"))


def install(client: str, directory: Path, latest: bool) -> str:
    """Install one client unless this version is there; returns what was done."""
    package = PACKAGES[client]
    version = "latest" if latest and client != "node" else package.version
    place = directory / "packages" / client
    stamp = place / "installed"
    if version != "latest" and stamp.is_file() and stamp.read_text() == version:
        return f"{client} {version} is there"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "package.json").write_text("{}\n")
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-progress")
    path = f"{directory / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    subprocess.run(
        ["npm", "install", *options, f"{package.name}@{version}"],
        cwd=place,
        env={**os.environ, "PATH": path},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    program = place / "node_modules" / package.program
    if not program.exists():
        raise FileNotFoundError(f"`{package.name}` {version} has no `{package.program}`")
    link = directory / "bin" / client
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(program)
    stamp.write_text(version)
    return f"installed {client} {version}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"of {', '.join(PACKAGES)}; all by default")
    parser.add_argument("--latest", action="store_true", help="the newest versions")
    chosen = parser.parse_args()
    directory = clients_directory()
    if shutil.which("npm") is None:
        print("npm is not installed: it is needed to get the clients", file=sys.stderr)
        return 1
    failed = False
    for client in dict.fromkeys(["node", *(chosen.clients or PACKAGES)]):
        try:
            print(install(client, directory, chosen.latest), flush=True)
        except (OSError, subprocess.CalledProcessError) as error:
            failed = True
            print(f"could not install {client}: {error}", file=sys.stderr)
    print(f"the clients are in {directory}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
