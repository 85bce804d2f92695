"""A real Ray cluster as a place: what arrives, what is lost, and what is left on the machines afterwards.

Only in the full form (`make fleet`, `make full`): a cluster takes half a minute to start and a gigabyte of memory.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.length import FULL
from tests.places.contract import PlaceContract
from tests.places.ray_cluster import RayCluster, own_network, unavailable, wait_until
from tests.places.test_ray_guard import Marked, family, marked

from samuel.places import ray_resources
from samuel.places.cluster import ClusterChoice
from samuel.places.place import Place, PlaceBroken, PlaceCommand, PlaceConnection, PlaceLost
from samuel.places.ray import RayPlace
from samuel.places.ray_messages import RayLimits
from samuel.process import procfs

pytestmark = pytest.mark.skipif(not FULL or bool(unavailable()), reason=unavailable() or "only in the full form")
__all__ = ["marked"]

SHELL = ("sh", "-c")
LIMITS = RayLimits(watch=1, head=20, queue=60, cancel=5)


@contextmanager
def running(directory: Path, patch: pytest.MonkeyPatch, *, token: bool = True) -> Iterator[RayCluster]:
    """A cluster with a head and no other machine yet; this process has its token."""
    with own_network():
        cluster = RayCluster(directory, token=token)
        for name in [name for name in os.environ if name.startswith("RAY_")]:
            patch.delenv(name)
        for name, value in cluster.variables().items():
            if name.startswith("RAY_"):
                patch.setenv(name, value)
        try:
            cluster.start_head()
            yield cluster
        finally:
            cluster.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Three machines that can be told apart by a resource; the third was started by `nohup ... &`."""
    with pytest.MonkeyPatch.context() as patch, running(tmp_path_factory.mktemp("ray"), patch) as cluster:
        cluster.start_node(1, {"agent": 2, "first": 2})
        cluster.start_node(2, {"agent": 2, "second": 2})
        cluster.start_node(3, {"agent": 2, "third": 2}, nohup=True)
        yield cluster


@pytest.fixture(scope="module")
def place(cluster: RayCluster) -> Iterator[RayPlace]:
    place = RayPlace(cluster.address, LIMITS, program=SHELL)
    assert place.problem() == ""
    yield place
    place.close()


def command(script: str, *resources: str, request: bytes = b"{}\n") -> PlaceCommand:
    return PlaceCommand((script,), request, ClusterChoice({"agent": 1, **dict.fromkeys(resources, 1)}))


def on(command: PlaceCommand, **machines: Any) -> PlaceCommand:
    """The command, for some machines of the cluster only."""
    return command._replace(choice=command.choice._replace(**machines))


def waiting(sleep: str) -> str:
    """A script that says when it runs, has a family of processes and waits for its stdin to close."""
    return f"{family(sleep)} read request; echo runs; cat >/dev/null; exit 0"


class Reader:
    """Reads the lines of a connection in a thread, as a coordinator does."""

    def __init__(self, connection: PlaceConnection) -> None:
        self.lines: list[bytes] = []
        self.error: Exception | None = None
        self._connection = connection
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for line in self._connection.lines():
                self.lines.append(line)
        except (PlaceLost, PlaceBroken) as error:
            self.error = error

    def wait_for_lines(self) -> None:
        wait_until(lambda: self.lines or not self._thread.is_alive(), "a line of the command")
        assert self.lines, self.error

    def end(self, within: float = 60.0) -> Exception | None:
        self._thread.join(within)
        assert not self._thread.is_alive(), "the connection did not end"
        return self.error


def under_way(place: RayPlace, marked: Marked, *resources: str) -> tuple[PlaceConnection, Reader]:
    connection = place.start(command(waiting(marked.sleep), *resources))
    reader = Reader(connection)
    reader.wait_for_lines()
    marked.wait_for(3)
    return connection, reader


class TestRayPlace(PlaceContract):
    @pytest.fixture(autouse=True)
    def _cluster(self, cluster: RayCluster) -> None:
        self._address = cluster.address

    def open(self, program: Path) -> Place:
        return RayPlace(self._address, LIMITS, program=(str(program),))


def offered(place: RayPlace) -> dict[str, float]:
    return ray_resources.offer(place._driver.machines) if place._driver is not None else {}


def test_place_has_the_slots_and_resources_that_the_machines_declare(place: RayPlace) -> None:
    assert place.slots == 6
    assert offered(place) == {"agent": 6, "first": 2, "second": 2, "third": 2}


def test_two_thousand_lines_arrive_in_order(place: RayPlace) -> None:
    lines = list(place.start(command("i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo $i; done")).lines())
    assert lines == [b"%d" % number for number in range(1, 2001)]


def test_lines_arrive_while_the_command_runs_and_its_request_reaches_it(place: RayPlace) -> None:
    connection = place.start(command("read request; echo $request; cat >/dev/null; echo ended", request=b"[7]\n"))
    lines = connection.lines()
    assert next(lines) == b"[7]"
    connection.cancel()
    assert list(lines) in ([], [b"ended"])


def test_command_does_not_get_the_token_of_the_cluster(place: RayPlace) -> None:
    assert list(place.start(command("env | grep -c -e ^RAY_ -e ^OMP_NUM_THREADS= || :")).lines()) == [b"0"]


def test_six_commands_run_at_once_and_the_seventh_waits(place: RayPlace, tmp_path: Path) -> None:
    script = f"echo x >> {tmp_path}/runs; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done; echo done"
    readers = [Reader(place.start(command(script))) for _ in range(7)]
    runs = tmp_path / "runs"
    wait_until(lambda: runs.exists() and len(runs.read_text().split()) == 6, "six commands at once")
    time.sleep(1)
    assert len(runs.read_text().split()) == 6
    (tmp_path / "go").touch()
    assert [(reader.end(), reader.lines) for reader in readers] == [(None, [b"done"])] * 7


def test_exit_code_of_a_command_that_says_nothing_is_seen(place: RayPlace) -> None:
    assert list(place.start(command("echo refused; exit 1")).lines()) == [b"refused"]
    with pytest.raises(PlaceBroken, match=r"exit code 7\nthe reason"):
        list(place.start(command("echo the reason >&2; exit 7")).lines())
    with pytest.raises(PlaceBroken, match="exit code 127"):
        list(place.start(command("echo line; no-such-program")).lines())


def test_failing_command_on_a_machine_is_seen_as_failing(place: RayPlace) -> None:
    assert list(place.start(command("sh -c 'exit 7'; echo $?; false || echo red", "first")).lines()) == [
        b"7",
        b"red",
    ]


def test_silent_attempt_is_lost_after_the_limit_and_leaves_nothing(cluster: RayCluster, marked: Marked) -> None:
    place = RayPlace(cluster.address, RayLimits(watch=1, silence=6, cancel=5), program=SHELL)
    try:
        lines = place.start(command("for i in 1 2 3 4 5; do echo $i; sleep 2; done")).lines()
        assert list(lines) == [b"1", b"2", b"3", b"4", b"5"]
        _, reader = under_way(place, marked)
        error = reader.end()
        assert isinstance(error, PlaceLost)
        assert "nothing was heard from the attempt" in str(error)
        marked.wait_for(0)
    finally:
        place.close()


def test_killed_command_is_lost_and_leaves_nothing(place: RayPlace, marked: Marked) -> None:
    reader = Reader(place.start(command(f"{family(marked.sleep)} sleep 1; kill -9 $$")))
    assert isinstance(reader.end(), PlaceLost)
    assert marked.alive() == []


@pytest.mark.parametrize("resource", ["first", "third"])
def test_cancelled_command_leaves_nothing_also_where_sigint_is_ignored(
    place: RayPlace, marked: Marked, resource: str
) -> None:
    connection, reader = under_way(place, marked, resource)
    connection.cancel()
    connection.cancel()
    assert reader.end() is None
    assert marked.alive() == []


def test_worker_is_as_before_after_a_cancelled_command(place: RayPlace, marked: Marked) -> None:
    for _ in range(3):
        connection, reader = under_way(place, marked, "third")
        connection.cancel()
        assert reader.end() is None
        assert list(place.start(command("echo again", "third")).lines()) == [b"again"]


def test_queued_command_that_is_cancelled_never_starts(place: RayPlace, tmp_path: Path, marked: Marked) -> None:
    holders = [under_way(place, holder, "first") for holder in (Marked(), Marked())]
    queued = place.start(command(f"touch {tmp_path}/started", "first"))
    reader = Reader(queued)
    time.sleep(1)
    queued.cancel()
    assert reader.end() is None
    for connection, holder in holders:
        connection.cancel()
        assert holder.end() is None
    assert list(place.start(command("echo free", "first")).lines()) == [b"free"]
    assert not (tmp_path / "started").exists()


def test_killed_worker_is_lost_and_leaves_nothing(place: RayPlace, cluster: RayCluster, marked: Marked) -> None:
    _, reader = under_way(place, marked, "first")
    for worker in cluster.nodes["127.0.0.3"].workers():
        os.kill(worker, signal.SIGKILL)
    assert isinstance(reader.end(), PlaceLost)
    marked.wait_for(0)


def test_killed_guard_is_lost_and_leaves_nothing(place: RayPlace, cluster: RayCluster, marked: Marked) -> None:
    _, reader = under_way(place, marked, "first")
    for worker in cluster.nodes["127.0.0.3"].workers():
        for outer in procfs.children(worker):
            for pid in [*procfs.children(outer), outer]:
                os.kill(pid, signal.SIGKILL)
    assert isinstance(reader.end(), PlaceLost)
    marked.wait_for(0)


def test_killed_driver_is_lost_leaves_nothing_and_is_replaced(place: RayPlace, marked: Marked) -> None:
    _, reader = under_way(place, marked, "second")
    assert place._driver is not None
    place._driver._process.kill()
    assert isinstance(reader.end(), PlaceLost)
    marked.wait_for(0)
    assert list(place.start(command("echo again")).lines()) == [b"again"]


def test_killed_coordinator_leaves_nothing(cluster: RayCluster, marked: Marked) -> None:
    coordinator = subprocess.Popen([sys.executable, "-c", _COORDINATOR, cluster.address, waiting(marked.sleep)])
    marked.wait_for(3)
    coordinator.kill()
    coordinator.wait()
    marked.wait_for(0)


_COORDINATOR = """
import sys
from samuel.places.cluster import ClusterChoice
from samuel.places.place import PlaceCommand
from samuel.places.ray import RayPlace
place = RayPlace(sys.argv[1], program=("sh", "-c"))
for line in place.start(PlaceCommand((sys.argv[2],), b"{}\\n", ClusterChoice({"agent": 1}))).lines():
    print(line)
"""


def test_resource_that_nobody_has_is_named_before_anything_starts(place: RayPlace) -> None:
    with pytest.raises(PlaceLost, match="no machine of the Ray cluster offers `codex`"):
        place.start(command("echo never", "codex"))
    with pytest.raises(PlaceLost, match="offers all of `agent`, `first`, `second`"):
        place.start(command("echo never", "first", "second"))


def test_wrong_token_is_named(cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "f" * 64)
    place = RayPlace(cluster.address, LIMITS)
    try:
        assert f"`ray:{cluster.address}` refused the token of this machine" in place.problem()
        with pytest.raises(PlaceBroken, match="refused the token"):
            place.start(command("echo never"))
    finally:
        place.close()


def test_address_where_nobody_answers_is_named(cluster: RayCluster) -> None:
    place = RayPlace("127.0.0.2:6999", LIMITS)
    try:
        assert "`ray:127.0.0.2:6999` does not answer" in place.problem()
        assert "ray health-check --address 127.0.0.2:6999" in place.problem()
    finally:
        place.close()


def test_other_python_is_named(cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    major, minor = sys.version_info[:2]
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfrom collections import namedtuple\n"
        "Version = namedtuple('Version', 'major minor micro releaselevel serial')\n"
        f"sys.version_info = Version({major}, {minor}, 99, 'final', 0)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    place = RayPlace(cluster.address, LIMITS)
    try:
        assert f"`ray:{cluster.address}` has another version of Ray or Python than this machine" in place.problem()
        assert f"Python: {major}.{minor}.99" in place.problem()
    finally:
        place.close()


def test_auto_finds_the_cluster_of_this_machine(cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    place = RayPlace("auto", LIMITS)
    try:
        assert (place.name, place.problem(), place.slots) == ("ray:auto", "", 6)
    finally:
        place.close()


def test_machine_with_the_subreaper_option_is_refused(cluster: RayCluster) -> None:
    option = "RAY_kill_child_processes_on_worker_exit_with_raylet_subreaper"
    with removed_afterwards(cluster, 4, {"agent": 1}, {option: "true"}):
        place = RayPlace(cluster.address, LIMITS, program=SHELL)
        try:
            assert place.problem() == "", "the others can work"
            problems = {machine.name: machine.problem for machine in place.machines() if machine.problem}
            assert list(problems) == ["127.0.0.6"]
            assert problems["127.0.0.6"].startswith("exit codes do not arrive")
            assert f"without {option}" in problems["127.0.0.6"]
            assert place.slots == 6
            readers = [Reader(place.start(command("echo $HOME; sleep 1"))) for _ in range(12)]
            assert [reader.end() for reader in readers] == [None] * 12
            assert not any(b"127.0.0.6" in line for reader in readers for line in reader.lines)
        finally:
            place.close()


def test_machine_with_the_subreaper_option_alone_is_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    option = "RAY_kill_child_processes_on_worker_exit_with_raylet_subreaper"
    with running(tmp_path, monkeypatch) as cluster:
        cluster.start_node(1, {"agent": 1}, {option: "true"})
        place = RayPlace(cluster.address, LIMITS)
        try:
            assert "has no machine that can run attempts:\n`127.0.0.3`: exit codes do not" in place.problem()
            with pytest.raises(PlaceLost, match="offers `agent`"):
                place.start(command("echo never"))
        finally:
            place.close()


def test_command_goes_to_the_machine_that_it_names_and_to_none_that_it_avoids(place: RayPlace) -> None:
    ids = {machine.name: machine.id for machine in place.machines()}
    for name, id in ids.items():
        connection = place.start(on(command("echo $HOME"), machine=id))
        assert [line.decode().rpartition("-")[2] for line in connection.lines()] == [name]
        assert connection.machine == id
    away = (ids["127.0.0.3"], ids["127.0.0.5"])
    readers = [Reader(place.start(on(command("echo $HOME"), avoided=away))) for _ in range(8)]
    assert [reader.end() for reader in readers] == [None] * 8
    assert {line.decode().rpartition("-")[2] for reader in readers for line in reader.lines} == {"127.0.0.4"}
    with pytest.raises(PlaceLost, match="no machine of the Ray cluster offers `agent`"):
        place.start(on(command("echo never"), avoided=tuple(ids.values())))


def test_killed_machine_is_lost_and_leaves_nothing(place: RayPlace, cluster: RayCluster, marked: Marked) -> None:
    with removed_afterwards(cluster, 5, {"agent": 1, "fifth": 1}) as raylet:
        wait_until(lambda: offered(place).get("fifth"), "the new machine")
        _, reader = under_way(place, marked, "fifth")
        queued = Reader(place.start(command("echo never", "fifth")))
        time.sleep(1)
        os.kill(raylet(), signal.SIGKILL)
        assert isinstance(reader.end(), PlaceLost)
        error = queued.end()
        assert isinstance(error, PlaceLost)
        assert "no machine of the Ray cluster offers `fifth`" in str(error)
        marked.wait_for(0)


def test_machine_frozen_for_half_a_minute_keeps_its_attempt_and_one_frozen_for_longer_loses_it(
    place: RayPlace, cluster: RayCluster, marked: Marked
) -> None:
    with removed_afterwards(cluster, 6, {"agent": 1, "sixth": 1}):
        wait_until(lambda: offered(place).get("sixth"), "the new machine")
        _, reader = under_way(place, marked, "sixth")
        node = cluster.nodes["127.0.0.8"]
        thaw = node.freeze()
        time.sleep(30)
        thaw()
        time.sleep(5)
        assert reader.error is None
        thaw = node.freeze()
        error = reader.end(within=180)
        assert isinstance(error, PlaceLost)
        assert "`127.0.0.8` is dead or does not answer" in str(error)
        thaw()
        marked.wait_for(0)


@contextmanager
def removed_afterwards(
    cluster: RayCluster, number: int, resources: dict[str, float], variables: dict[str, str] | None = None
) -> Iterator[Callable[[], int]]:
    """One more machine while this lasts; gives the process id of its daemon."""
    node = cluster.start_node(number, resources, variables)
    try:
        yield lambda: node.raylet
    finally:
        cluster.remove(node)


def test_cluster_without_a_token_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path, monkeypatch, token=False) as open_cluster:
        place = RayPlace(open_cluster.address, LIMITS)
        assert "RAY_AUTH_MODE is not `token` here" in place.problem()
        place.close()
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        monkeypatch.setenv("RAY_AUTH_TOKEN", "f" * 64)
        place = RayPlace(open_cluster.address, LIMITS)
        assert "answers without a token" in place.problem()
        assert "ray get-auth-token --generate" in place.problem()
        place.close()


def test_attempts_are_lost_and_leave_nothing_when_the_head_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marked: Marked
) -> None:
    with running(tmp_path, monkeypatch) as doomed:
        doomed.start_node(1, {"agent": 1})
        place = RayPlace(doomed.address, LIMITS, program=SHELL)
        assert place.problem() == ""
        _, reader = under_way(place, marked)
        doomed.remove(doomed.nodes["127.0.0.2"])
        assert isinstance(reader.end(within=120), PlaceLost)
        wait_until(lambda: "does not answer" in place.problem(), "the end of the driver", 120)
        place.close()
        # The machines know of no driver that has gone. They end what they run when they give up the head.
        marked.wait_for(0, within=180)
