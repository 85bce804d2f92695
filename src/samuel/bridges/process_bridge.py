"""The hooks of one process of a client, for an agent of a run: no file of the user's is changed.

Some clients take hooks from their home directory only. The process then gets the user's own one by links, but for
the file with the hooks. What it writes into a directory there goes to the user's own one; a new file at the top is
lost when the process ends.

Where the run's server does not answer, a program does: this Samuel. A client may start its hooks in another
directory, with another PATH or with variables left out. The run's names, what it pinned and the variables that
hooks see are therefore in the script. It is read-only in a sandbox.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.bridges.run_server import ServerAddress
from samuel.clients.dialect.events import INSIDE_AGENT
from samuel.clients.entries.bridge_plan import BridgeFile, BridgeRequest, HomeOverlay
from samuel.clients.entries.hook_command import EmitCommand
from samuel.clients.entries.settings_file import settings_in
from samuel.clients.table import CLIENTS, RUN_BRIDGES
from samuel.confine.sandbox import Private
from samuel.files import atomic
from samuel.process.emit_client import NATIVE_CLIENT, OFF, SWITCH
from samuel.process.ledger import MARK
from samuel.process.passed import UNSET_NAMES, is_pinned


class ProcessBridge(NamedTuple):
    """What is added to the command line, the environment and the sandbox of one process."""

    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = MappingProxyType({})
    homes: tuple[Private, ...] = ()
    """Directories that the client writes to; in a sandbox each is a fresh one."""
    files: Mapping[Path, bytes] = MappingProxyType({})
    """What was written for it, and must be unchanged when it has ended."""

    def changed_files(self) -> list[str]:
        """The names of the files that are not what was written."""
        return sorted(path.name for path, data in self.files.items() if not _is_kept(path, data))


def process_bridge(
    client: str,
    root: Path,
    directory: Path,
    home: Path,
    variables: Mapping[str, str],
    host: Mapping[str, str],
    server: ServerAddress | None = None,
    events: Sequence[str] = INSIDE_AGENT,
) -> ProcessBridge:
    """The bridge of one process of a client that works in `root`.

    `directory` is for files that the process must not change, `home` for a client that needs a home directory of
    its own. `variables` are those of the Samuel that its hooks start; `host` is the user's environment. `server`
    answers in place of that Samuel. `events` are those of Samuel's that the hooks are for.
    """
    launcher = BridgeFile(directory / NATIVE_CLIENT, launcher_script(root, variables), 0o700)
    command = EmitCommand((str(launcher.path),) if server is None else server.words(launcher.path), of_run=True)
    native_events = [native for native, event in CLIENTS[client].events.items() if event in events]
    plan = RUN_BRIDGES[client](BridgeRequest(client, root, directory, home, command, host, native_events))
    homes = (make_home(plan.home),) if plan.home else ()
    return ProcessBridge(plan.arguments, plan.env, homes, _write((launcher, *plan.files)))


def _write(files: Sequence[BridgeFile]) -> dict[Path, bytes]:
    """Write the files; what is in each of them."""
    for file in files:
        file.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(file.path, file.data, file.mode, durable=False)
    return {file.path: file.data for file in files}


def _is_kept(path: Path, data: bytes) -> bool:
    try:
        now = path.read_bytes()
    except OSError:
        return False
    if now == data or path.suffix != ".json":
        return now == data
    # A client may add keys of its own to its settings, such as the version of their form.
    before, after = settings_in(data.decode()), settings_in(now.decode("utf-8", "replace"))
    return all(after.get(key) == value for key, value in before.items())


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


def launcher_script(root: Path, variables: Mapping[str, str]) -> bytes:
    """A `samuel emit` for the project at `root`, with these `variables` and no server."""
    # -P: a module in the project must not be imported in place of one that Samuel uses.
    words = [sys.executable, "-P", "-m", "samuel", "emit"]
    lines = [
        "#!/bin/sh",
        *_environment({**variables, SWITCH: OFF}),
        f"cd {shlex.quote(str(root))} || exit 2",  # a denial; `cd` says why
        f'exec {shlex.join(words)} "$@"',
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _environment(variables: Mapping[str, str]) -> Iterator[str]:
    """The lines that make the variables which hooks see those of the run."""
    for name, value in sorted(variables.items()):
        if is_pinned(name, variables) and name != MARK:
            yield f"export {name}={shlex.quote(value)}"
    if left_out := sorted(UNSET_NAMES.difference(variables)):
        yield f"unset {' '.join(left_out)}"
