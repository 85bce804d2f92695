"""`[lanes] setup`: the command that makes a lane ready, run again when what it depends on changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.confine import sandbox as sandboxes
from samuel.evidence.surroundings.inputs import USUAL_INPUTS
from samuel.files import atomic
from samuel.files.regular import read_regular
from samuel.process import spawn

TIMEOUT = 1800.0
TAIL = 2000


def make_ready(place: Workplace, mark: Path) -> bool:
    """Run `setup` in a lane if its inputs are not what they were; whether it ran. `mark` is where that is noted.

    Raises SamuelError if it fails.
    """
    settings = place.lanes
    if not settings.setup:
        return False
    digest = _digest(place.root, settings.setup, (*(settings.inputs or USUAL_INPUTS), *settings.copy))
    if mark.exists() and read_regular(mark) == digest.encode():
        return False
    mark.unlink(missing_ok=True)  # a setup that is killed is repeated
    env = {**place.environment, "SAMUEL_PROJECT_ROOT": str(place.root)}
    argv = ["/bin/sh", "-c", settings.setup]
    with sandboxes.confined(argv, place.settings.sandbox, place.confinement, env) as confined:
        finished = spawn.run(
            confined.argv,
            cwd=str(place.root),
            env=confined.env,
            pass_fds=confined.pass_fds,
            timeout=TIMEOUT,
            output_limit=1 << 62,
            keep=TAIL,
        )
    if finished.ended != "exited" or finished.returncode != 0:
        how = (
            f"exit code {finished.returncode}" if finished.ended == "exited" else finished.ended.replace("_", " ")
        )
        output = safe((finished.stdout + finished.stderr).decode("utf-8", "replace")[-TAIL:]).strip()
        raise SamuelError(
            f"`{safe(settings.setup)}` of `[lanes] setup` failed in lane {place.lane}: {how}\n{output}",
            f"run it in `{place.root}` to see more",
        )
    atomic.write_text(mark, digest, 0o600, durable=False)
    return True


def _digest(root: Path, command: str, names: Iterable[str]) -> str:
    """What `setup` depends on: its own text, and the content of its inputs."""
    digest = hashlib.sha256(command.encode())
    for name in names:
        path = root / name
        if path.is_file():
            digest.update(f"\0{name}\0".encode())
            digest.update(read_regular(path))
    return digest.hexdigest()
