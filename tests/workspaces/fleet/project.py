"""A project whose tasks are done on other machines: a bare remote, three homes, real ssh."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.workspaces.fleet.machines import SshMachines
from tests.workspaces.lanes.project import PATIENCE, LaneProject

CLONE = "~/clone"
SETTINGS = '\n[fleet]\nretry = "200ms"\npatience = "20s"\nsilence = "20s"\n'


class FleetProject(LaneProject):
    def __init__(self, base: Path, programs: Path, home: Path, machines: SshMachines) -> None:
        super().__init__(base, programs, home)
        self.machines = machines
        self.bare = base / "shop.git"
        self.env["PATH"] = f"{machines.bin}:{self.env['PATH']}"

    def publish(self) -> None:
        """Give the project its remote."""
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.bare)], check=True)
        self.git("remote", "add", "origin", str(self.bare))
        self.git("push", "-q", "origin", "main")

    def prepare_fleet(
        self,
        tasks: int | Mapping[str, str],
        settings: str = SETTINGS,
        *,
        trusted: bool = True,
        machines: Sequence[str] | None = None,
        **rest: Any,
    ) -> None:
        """Make the project, its remote, and a clone on each of these machines."""
        self.prepare(tasks, more=settings, **rest)
        self.publish()
        for name in self.machines.names if machines is None else machines:
            self.clone(name, trusted=trusted)

    def clone(self, name: str, *, trusted: bool = True) -> Path:
        """What the owner of a machine does: a clone, and `samuel trust`."""
        place = self.machines.home(name) / "clone"
        self.git("clone", "-q", str(self.bare), str(place))
        if trusted:
            self.on_machine(name, "samuel", "-C", str(place), "trust", "--yes")
        return place

    def on_machine(self, name: str, *command: str) -> str:
        done = subprocess.run(
            command, env=self.machines.environment(name), capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def places(self, slots: int = 1, names: tuple[str, ...] = ()) -> list[str]:
        """The options of `run start` for all machines."""
        return [
            word for name in names or self.machines.names for word in ("--place", f"ssh:{name}:{slots}:{CLONE}")
        ]

    def killed_on(self, name: str, *, guard: bool) -> None:
        """SIGKILL for the process of the attempt on a machine, or for its guard."""
        youngest_first = sorted(self.machines.attempts(name), reverse=True)
        os.kill(youngest_first[int(guard)], signal.SIGKILL)

    def remote_refs(self, pattern: str = "refs/samuel/*") -> list[str]:
        return [line.split("\t")[1] for line in self.git("ls-remote", str(self.bare), pattern).splitlines()]

    def all_text(self) -> bytes:
        """Everything that the run wrote: its state, its records, the journals, and what the remote has."""
        places = [self.root / ".samuel/run", self.home / "state", *map(self.machines.home, self.machines.names)]
        files = (file for place in places for file in place.rglob("*") if "cache" not in file.parts)
        text = b"".join(file.read_bytes() for file in files if file.is_file())
        self.git("fetch", "-q", str(self.bare), "+refs/samuel/*:refs/fetched/*")
        commits = [line.split()[0] for line in self.git("ls-remote", str(self.bare), "refs/samuel/*").splitlines()]
        return text + "".join(self.git("cat-file", "commit", commit) for commit in commits).encode()
