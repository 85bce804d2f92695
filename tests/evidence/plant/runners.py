"""Small projects for real test runners: honest attempts, and attempts that disarm the checks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from samuel.evidence.plant.choice import PlantTrees, plants
from samuel.evidence.plant.planted import CalledRunner, Plant, PlantRun
from samuel.evidence.plant.verdict import PlantVerdict, verdict
from samuel.evidence.reports.formats import read_report_file

TOKEN = "kq7zv1m4xw9d"
PATIENCE = 300  # seconds; for a runner that hangs
Files = Mapping[str, str]


def node_modules() -> Path:
    """Where `npm install --ignore-scripts jest vitest mocha ava tape uvu jasmine` was run: SAMUEL_RUNNERS."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("SAMUEL_RUNNERS") or Path(cache, "samuel-runners")) / "node_modules"


@dataclass(frozen=True)
class SampleProject:
    """A project whose check is green, and how its check command is called."""

    call: CalledRunner
    command: str
    files: Files
    needs: tuple[str, ...] = ()
    """Programs, files, or packages of npm as `npm:jest`."""
    variables: Files = field(default_factory=dict)
    """More of the environment."""
    calls: tuple[CalledRunner, ...] | None = None
    """What is read from the command, if it is not the one call."""

    @property
    def missing(self) -> str:
        """The first tool that is not installed here; "" if all are."""
        for tool in self.needs:
            package = tool.removeprefix("npm:")
            if not ((node_modules() / package).is_dir() if package != tool else _is_there(tool)):
                return tool
        return ""


def _is_there(tool: str) -> bool:
    return bool(shutil.which(tool)) or (tool.startswith("/") and Path(tool).is_file())


class Judged:
    """One attempt at a project: the plant that was tried last, and the verdict."""

    def __init__(self, project: SampleProject, changes: Mapping[str, str | None], directory: Path) -> None:
        self._project = project
        self._directory = directory
        self._verified = {path: text.encode() for path, text in project.files.items()}
        texts = {**project.files, **changes}
        self._attempt = {path: text.encode() for path, text in texts.items() if text is not None}
        self._changed = [path for path in changes if self._attempt.get(path) != self._verified.get(path)]
        self.before = self._run(self._attempt)
        self.plant: Plant | None = None
        self.tried: list[PlantVerdict] = []

    def first(self, kind: str = "") -> PlantVerdict:
        """The verdict with the first plant, or the first of a kind; on the verified tree too if needed."""
        self.plant = next(plant for plant in self.plants() if not kind or plant.kind == kind)
        return self.verdict(self.plant)

    def any(self) -> PlantVerdict:
        """The verdict of the first plant that says something."""
        for plant in self.plants():
            self.plant = plant
            self.tried.append(self.verdict(plant))
            if self.tried[-1].outcome != "not_shown":
                break
        return self.tried[-1]

    def plants(self) -> Iterator[Plant]:
        calls = self._project.calls if self._project.calls is not None else (self._project.call,)
        trees = PlantTrees(
            tuple(self._attempt),
            lambda path: self._verified.get(path, b""),
            lambda path: self._attempt.get(path, b""),
            self._changed,
        )
        return plants(calls, trees, TOKEN, self.before.tests or ())

    def verdict(self, plant: Plant) -> PlantVerdict:
        self.after = self._run({**self._attempt, **plant.files})
        first = verdict(self.before, self.after, plant)
        for part in first.undecided:
            if (alone := self.verdict(part)).outcome == "disarmed":
                return alone
        if not first.needs_control:
            return first
        self.control = self._run({**self._verified, **plant.control_files})
        verified = self._run(self._verified)
        return verdict(self.before, self.after, plant, verified=verified, control=self.control)

    def _run(self, files: Mapping[str, bytes]) -> PlantRun:
        room = self._directory / "room"
        shutil.rmtree(room, ignore_errors=True)
        for path, content in files.items():
            (room / path).parent.mkdir(parents=True, exist_ok=True)
            (room / path).write_bytes(content)
        if any(tool.startswith("npm:") for tool in self._project.needs):
            (room / "node_modules").symlink_to(node_modules())
        report = self._directory / "report.xml"
        report.unlink(missing_ok=True)
        path = f"{Path(sys.executable).parent}:{room}/node_modules/.bin:{os.environ['PATH']}"
        variables = {name: value.format(report=report) for name, value in self._project.variables.items()}
        done = subprocess.run(
            ["sh", "-c", self._project.command],
            cwd=room,
            env={**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
        suite = read_report_file(report.read_bytes()) if report.is_file() else None
        tests = suite.results if suite else None
        return PlantRun(done.returncode == 0, tests, done.stdout.decode("utf-8", "replace"))
