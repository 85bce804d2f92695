"""Runs whose attempts happen in a real Ray cluster of three machines. Only in the full form."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.length import FULL
from tests.places.ray_cluster import RayCluster, RayNode, own_network, unavailable, wait_until
from tests.workspaces.lanes.project import INSTALLED, LaneProject

from samuel.process import procfs

pytestmark = pytest.mark.skipif(not FULL or bool(unavailable()), reason=unavailable() or "only in the full form")

MACHINES = 3
SLOTS = 2
PATIENCE = 900.0  # seconds after which a test gives up: a busy machine is no failure
SETTINGS = '\n[fleet]\nretry = "200ms"\npatience = "20s"\nsilence = "60s"\n'


class RayProject(LaneProject):
    """A project with a bare remote, and machines that trust it."""

    def __init__(
        self, base: Path, home: Path, cluster: RayCluster, share_compiled: Callable[[Path], None]
    ) -> None:
        super().__init__(base, Path(sys.executable).parent, home)
        self.cluster = cluster
        self.bare = base / "shop.git"
        self._share_compiled = share_compiled
        self.env |= {name: value for name, value in cluster.variables().items() if name.startswith("RAY_")}
        self.env["RAY_ADDRESS"] = cluster.address

    def start_machine(self, number: int, *, trusts: bool = True) -> RayNode:
        home = self.home.with_name(f"machine-{number}")
        if not home.exists():
            home.mkdir()
            self._share_compiled(home / "cache")
            (home / ".gitconfig").write_text("[user]\n\tname = A Machine\n\temail = machine@example.org\n")
        variables = {
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            **({"SAMUEL_TRUST": "all"} if trusts else {}),
        }
        return self.cluster.start_node(number, {"agent": SLOTS, "mine": SLOTS}, variables)

    def prepare_ray(self, tasks: int, **rest: str) -> None:
        self.prepare(tasks, more=SETTINGS, **rest)  # type: ignore[arg-type]
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.bare)], check=True)
        self.git("remote", "add", "origin", str(self.bare))
        self.git("push", "-q", "origin", "main")

    def begin(self) -> subprocess.Popen[bytes]:
        command = [*INSTALLED, "run", "start", "--yes", "--place", "ray:auto"]
        with (self.outside / "screen").open("ab") as file:
            return subprocess.Popen(
                command, cwd=self.root, env=self.env, stdout=file, stderr=file, start_new_session=True
            )

    def agents(self) -> list[int]:
        """The processes of agents on all machines, and whatever they started."""
        lanes = procfs.carrying("SAMUEL_PROJECT_ROOT", str(self.home.parent), prefix=True)
        return [pid for pid in lanes if not _dead(pid)]

    def wait_for_agents(self, count: int, process: subprocess.Popen[bytes]) -> bool:
        """Wait until so many more agents have begun; False if the run ended before."""
        before = len(self.calls())
        wait_until(
            lambda: len(self.calls()) >= before + count or process.poll() is not None, "more agents", PATIENCE
        )
        return process.poll() is None


def _dead(pid: int) -> bool:
    status = procfs.stat(pid)
    return status is None or status.dead


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_compiled_python: Callable[[Path], None]
) -> Iterator[RayProject]:
    with own_network():
        cluster = RayCluster(tmp_path)
        home = tmp_path / "home"
        home.mkdir()
        with_compiled_python(home / "cache")
        try:
            cluster.start_head()
            project = RayProject(tmp_path, home, cluster, with_compiled_python)
            for number in range(1, MACHINES + 1):
                project.start_machine(number)
            yield project
        finally:
            cluster.stop()


def ended(process: subprocess.Popen[bytes], project: RayProject) -> int:
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        project.kill(process)
        pytest.fail(f"the run did not end:\n{project.screen}")


def test_sixty_tasks_land_once_each_with_agents_on_three_machines(project: RayProject) -> None:
    project.prepare_ray(60)
    project.task("any", 'echo "$HOME" >> "$outside/homes"; echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"')
    process = project.begin()
    assert ended(process, project) == 0, project.screen
    project.assert_sound(60)
    assert len(project.calls()) == 60
    assert project.most_at_once() <= MACHINES * SLOTS
    assert len(set((project.outside / "homes").read_text().split())) == MACHINES
    assert project.agents() == []


def test_red_check_on_a_machine_is_seen_as_red(project: RayProject) -> None:
    project.prepare_ray(2)
    project.task("1", "touch broken")
    process = project.begin()
    ended(process, project)
    assert project.landed() == ["2"]
    statuses = project.statuses()
    assert statuses["2"] == "completed"
    assert statuses["1"] != "completed"


def test_agent_that_no_machine_offers_is_named_and_nothing_starts(project: RayProject) -> None:
    project.prepare_ray(1)
    settings = (project.root / "samuel.toml").read_text()
    project.write("samuel.toml", settings.replace('"mine"', '"other"').replace("agents.mine", "agents.other"))
    project.git("commit", "-q", "-a", "-m", "Another agent")
    process = project.begin()
    assert ended(process, project) != 0
    assert "no machine of the Ray cluster offers `other`" in project.screen
    assert project.calls() == []


def test_machine_that_refuses_is_named_and_the_others_go_on(project: RayProject) -> None:
    project.cluster.remove(project.cluster.nodes["127.0.0.5"])
    project.start_machine(3, trusts=False)
    project.prepare_ray(6)
    project.task("any", 'echo "$HOME" >> "$outside/homes"; sleep 1; echo x > "work-$SAMUEL_TASK_ID.txt"')

    checked = project.samuel("fleet", "check", "--place", "ray:auto", "--json", code=1, installed=True).data
    assert {entry["place"]: entry["code"] for entry in checked} == {
        "ray:auto/127.0.0.3": "",
        "ray:auto/127.0.0.4": "",
        "ray:auto/127.0.0.5": "trust",
    }
    process = project.begin()
    assert ended(process, project) == 0, project.screen

    project.assert_sound(6)
    assert len(project.calls()) == 6
    assert "`ray:auto/127.0.0.5` gets no work in this run: `checks:ralph` of" in project.screen
    assert {home.rpartition("-")[2] for home in (project.outside / "homes").read_text().split()} == {"1", "2"}


def test_drained_machine_of_a_cluster_gets_no_new_work(project: RayProject) -> None:
    project.prepare_ray(12)
    project.task(
        "any",
        'echo "$HOME" >> "$outside/homes"; while [ ! -e "$outside/go" ]; do sleep 0.1; done\n'
        'echo x > "work-$SAMUEL_TASK_ID.txt"',
    )
    process = project.begin()
    project.wait_for_agents(MACHINES * SLOTS, process)
    status = {entry["place"]: entry for entry in project.samuel("fleet", "status", "--json").data}
    assert [len(status[f"ray:auto/127.0.0.{number}"]["tasks"]) for number in (3, 4, 5)] == [SLOTS] * MACHINES
    project.samuel("fleet", "drain", "127.0.0.4")
    states = {entry["place"]: entry["state"] for entry in project.samuel("fleet", "status", "--json").data}
    assert states["ray:auto/127.0.0.4"] == "drained"
    assert states["ray:auto"] == "ready"
    (project.outside / "go").touch()
    assert ended(process, project) == 0, project.screen

    project.assert_sound(12)
    homes = (project.outside / "homes").read_text().split()
    assert sum(home.endswith("machine-2") for home in homes) == SLOTS, "what it had before"


def frozen_machine(project: RayProject, task: str) -> Callable[[], None]:
    """Freeze the machine that works on a task; gives a function that lets it go on."""

    def address() -> str:
        entries = project.samuel("fleet", "status", "--json").data
        at_work = [entry["place"] for entry in entries if task in [each["task"] for each in entry["tasks"]]]
        return next((place.rpartition("/")[2] for place in at_work if "/" in place), "")

    wait_until(address, "the machine of the task")
    return project.cluster.nodes[address()].freeze()


def test_machine_frozen_for_half_a_minute_keeps_its_attempt(project: RayProject) -> None:
    project.prepare_ray(1)
    project.task("1", 'while [ ! -e "$outside/frozen" ]; do sleep 0.1; done; sleep 1; echo 1 > "work-1.txt"')
    process = project.begin()
    assert project.wait_for_agents(1, process)
    thaw = frozen_machine(project, "1")
    (project.outside / "frozen").touch()
    time.sleep(30)
    thaw()
    assert ended(process, project) == 0, project.screen
    project.assert_sound(1)
    assert len(project.calls()) == 1, "its agent was not started anew"
    assert "no attempt is counted" not in project.screen


def test_machine_frozen_for_two_minutes_loses_its_task_to_another_one(project: RayProject) -> None:
    project.prepare_ray(2)
    project.task("1", 'while [ ! -e "$outside/frozen" ]; do sleep 0.1; done; sleep 1; echo 1 > "work-1.txt"')
    # It keeps the run alive until the machine goes on.
    project.task("2", 'while [ ! -e "$outside/thawed" ]; do sleep 0.1; done; sleep 10; echo 2 > "work-2.txt"')
    process = project.begin()
    assert project.wait_for_agents(2, process)
    thaw, until = frozen_machine(project, "1"), time.monotonic() + 120
    (project.outside / "frozen").touch()
    while time.monotonic() < until:
        assert process.poll() is None, project.screen
        time.sleep(0.5)
    assert project.statuses()["1"] == "completed", project.screen
    thaw()
    (project.outside / "thawed").touch()
    assert ended(process, project) == 0, project.screen
    project.assert_sound(2)
    assert {project.row(task)["attempts"] for task in ("1", "2")} == {0}, "no task is to blame"
    wait_until(lambda: project.agents() == [], "the end of the agents of the frozen machine", 180)


def test_remote_that_is_away_for_half_a_minute_loses_nothing(project: RayProject) -> None:
    project.prepare_ray(2)
    away = project.bare.with_name("away.git")
    project.write("samuel.toml", (project.root / "samuel.toml").read_text().replace('patience = "20s"\n', ""))
    project.git("commit", "-qam", "The patience that runs have by default")
    project.git("push", "-q", "origin", "main")
    project.task("1", f'mv {project.bare} {away}; echo 1 > "work-1.txt"')
    process = project.begin()
    wait_until(away.exists, "the first agent", PATIENCE)
    time.sleep(30)
    away.rename(project.bare)
    assert ended(process, project) == 0, project.screen
    project.assert_sound(2)
    assert len(project.calls()) == 2, "no agent was paid twice"


def test_kills_of_workers_machines_and_the_coordinator_lose_and_double_nothing(project: RayProject) -> None:
    tasks, kills = 30, 0
    project.prepare_ray(tasks)
    project.task(
        "any",
        'setsid sleep 600 & echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"; sleep 2',
    )
    choice = random.Random(16)
    process = project.begin()
    for what in ("worker", "worker", "machine", "coordinator", "worker", "machine", "coordinator", "worker"):
        if not project.wait_for_agents(2, process):
            break
        kills += 1
        if what == "coordinator":
            project.kill(process)
            wait_until(lambda: project.agents() == [], "the end of the agents")
            process = project.begin()
            continue
        machines = [node for address, node in project.cluster.nodes.items() if address != "127.0.0.2"]
        node = choice.choice([node for node in machines if node.workers()] or machines)
        if what == "worker":
            for worker in node.workers()[:1]:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
        else:
            os.kill(node.raylet, signal.SIGKILL)
            number = int(node.address.rpartition(".")[2]) - 2
            time.sleep(2)
            project.cluster.remove(node)
            project.start_machine(number)
    assert ended(process, project) == 0, project.screen
    assert kills >= 6
    project.assert_sound(tasks)
    assert len(project.calls()) <= tasks + kills * MACHINES * SLOTS
    wait_until(lambda: project.agents() == [], "the end of all that agents started")
