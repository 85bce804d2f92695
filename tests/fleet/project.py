"""A project whose tasks are done on other machines: a bare remote, three homes, real ssh."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.fleet.machines import SshMachines
from tests.lanes.project import PATIENCE, LaneProject

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
        self, tasks: int, more: str = "", settings: str = SETTINGS, trusted: bool = True, **rest: str
    ) -> None:
        self.prepare(tasks, more=more + settings, **rest)  # type: ignore[arg-type]
        self.publish()
        for name in self.machines.names:
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
