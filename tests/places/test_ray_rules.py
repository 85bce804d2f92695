"""What the place `ray` decides, and what runs on its machines, without a Ray cluster."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from tests.places.test_ray_guard import Marked, family, marked

from samuel.places import ray_resources, ray_task
from samuel.places.cluster import ClusterChoice
from samuel.places.place import PlaceBroken, PlaceCommand
from samuel.places.ray import RayPlace
from samuel.places.ray_connect import _explained
from samuel.places.ray_resources import RayMachine

__all__ = ["marked"]

ROOT = Path(__file__).parents[2]
PYTHON = [sys.executable, "-c"]


def machine(name: str, *, alive: bool = True, **resources: float) -> RayMachine:
    return RayMachine(name, name, alive, {"CPU": 2.0, f"node:{name}": 1.0, **resources})


# What the cluster offers


def test_offer_counts_living_machines_and_only_what_somebody_declared() -> None:
    machines = [machine("a", agent=2, claude=1), machine("b", agent=3), machine("c", alive=False, agent=9)]
    assert ray_resources.offer(machines) == {"agent": 5, "claude": 1}
    assert [each.slots for each in machines] == [2, 3, 0]


@pytest.mark.parametrize(
    ("offered", "needed"),
    [
        ({"agent": 4}, {"agent": 1}),
        ({"agent": 4, "claude": 1}, {"agent": 1, "claude": 1}),
        ({"agent": 4, "codex": 1}, {"agent": 1, "claude": 1}),
    ],
)
def test_attempt_needs_its_agent_where_the_cluster_counts_agents(
    offered: dict[str, float], needed: dict[str, float]
) -> None:
    assert ray_resources.demand({"agent": 1, "claude": 1}, offered) == needed
    assert ray_resources.demand({}, offered) == {"agent": 1}


def test_missing_resource_is_named() -> None:
    machines = [machine("a", agent=2, claude=1), machine("b", agent=2, codex=1), machine("c", alive=False, grok=1)]
    missing = ray_resources.missing
    assert missing({"agent": 1, "claude": 1}, machines) == ""
    assert missing({"agent": 1, "grok": 1}, machines) == "no machine of the Ray cluster offers `grok`"
    assert missing({"agent": 3}, machines) == "no machine of the Ray cluster offers `agent`: 3"
    assert missing({"claude": 1, "codex": 1}, machines).endswith("offers all of `claude`, `codex`")
    assert missing({"agent": 1}, []) == "no machine of the Ray cluster offers `agent`"


# Clusters that are refused


def refusal(address: str) -> str:
    place = RayPlace(address)
    try:
        assert place.slots == 0
        with pytest.raises(PlaceBroken):
            place.start(PlaceCommand(("attempt",), b"{}\n", ClusterChoice({"agent": 1})))
        return place.problem()
    finally:
        place.close()


def test_cluster_is_refused_where_token_authentication_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    problem = refusal("auto")
    assert "`ray:auto` is refused: RAY_AUTH_MODE is not `token` here" in problem
    assert "ray get-auth-token --generate" in problem


def test_ray_client_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert "is a Ray Client address, which Samuel does not use" in refusal("ray://head:10001")


def test_missing_ray_is_named_with_the_extra_that_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError(\"No module named 'ray'\")")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    problem = refusal("auto")
    assert "`ray:auto` needs Ray, which is not installed here" in problem
    assert "pip install 'samuel-loop[ray]'" in problem


def test_other_version_is_named() -> None:
    words = (
        "Version mismatch: The cluster was started with:\n    Ray: 2.60.0\n    Python: 3.11.7\n"
        "This process on node 127.0.0.2 was started with:\n    Ray: 2.60.0\n    Python: 3.12.1\n"
    )
    error = _explained("auto", words, answers=True)
    assert isinstance(error, PlaceBroken)
    assert "another version of Ray or Python" in error.message
    assert "Python: 3.12.1" in error.message


def test_ray_is_not_imported_by_the_coordinator() -> None:
    code = "import sys, samuel.places.ray; sys.exit('ray' in sys.modules)"
    assert subprocess.run([*PYTHON, code]).returncode == 0


# What runs on a machine


def items_of(script: str, request: bytes = b"{}\n") -> list[tuple[object, ...]]:
    return list(ray_task.run_command(("sh", "-c"), (script,), request, 5.0))


def lines_of(items: list[tuple[object, ...]]) -> list[bytes]:
    lines: list[bytes] = []
    for kind, *values in items:
        if kind == ray_task.LINES:
            assert isinstance(values[0], list)
            lines += values[0]
    return lines


def test_command_on_a_machine_yields_its_lines_and_its_exit_code() -> None:
    items = items_of("read request; echo $request; echo; printf last; echo why >&2; exit 3", b"[1]\n")
    assert items[0][0] == ray_task.STARTED
    assert lines_of(items) == [b"[1]", b"", b"last"]
    assert items[-1] == (ray_task.ENDED, 3, "why")


def test_long_request_reaches_the_command() -> None:
    assert lines_of(items_of("head -c 3000000 | wc -c", b"x" * 3_000_000)) == [b"3000000"]


def test_program_below_the_home_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "samuel").write_text("#!/bin/sh\necho $1 in $PWD\n")
    (tmp_path / "samuel").chmod(0o755)
    items = list(ray_task.run_command(("~/samuel",), ("attempt",), b"", 5.0))
    assert lines_of(items) == [f"attempt in {tmp_path}".encode()]


def test_command_does_not_get_what_ray_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_AUTH_TOKEN", "RAY_JOB_ID", "OMP_NUM_THREADS", "PYTHONBREAKPOINT", "STAYS"):
        monkeypatch.setenv(name, "1")
    lines = lines_of(items_of("env"))
    assert b"STAYS=1" in lines
    assert not [line for line in lines if line.startswith((b"RAY_", b"OMP_", b"PYTHONBREAKPOINT"))]


_WORKER = """
import signal, sys
from samuel.places import ray_task
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, getattr(signal, sys.argv[2]))
for item in ray_task.run_command(("sh", "-c"), (sys.argv[1],), b"{}\\n", 5.0):
    print(*item, flush=True)
print("put back:", signal.getsignal(signal.SIGINT) == signal.SIG_IGN)
"""


def worker(script: str, children: str = "SIG_DFL") -> subprocess.Popen[bytes]:
    """A process that ignores SIGINT, as below `nohup ray start ... &`, and runs a command."""
    return subprocess.Popen([*PYTHON, _WORKER, script, children], stdout=subprocess.PIPE)


def test_cancelled_command_ends_with_all_it_started_also_where_sigint_was_ignored(marked: Marked) -> None:
    process = worker(f"{family(marked.sleep)} cat >/dev/null; echo in order; exit 0")
    marked.wait_for(3)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert marked.alive() == []
    assert stdout.splitlines()[1:] == [b"lines [b'in order']", b"ended 0 ", b"put back: True"]


def test_killed_worker_leaves_nothing(marked: Marked) -> None:
    process = worker(f"{family(marked.sleep)} cat >/dev/null")
    marked.wait_for(3)
    process.kill()
    process.communicate()
    marked.wait_for(0)


def test_worker_in_which_exit_codes_do_not_arrive_runs_nothing(tmp_path: Path) -> None:
    stdout, _ = worker(f"touch {tmp_path}/ran", children="SIG_IGN").communicate(timeout=60)
    assert stdout.startswith(b"broken exit codes do not arrive on")
    assert b"RAY_kill_child_processes_on_worker_exit_with_raylet_subreaper" in stdout
    assert not (tmp_path / "ran").exists()


# The manifest for Kubernetes in the documentation


def test_manifest_in_the_documentation_fits_what_samuel_asks_for() -> None:
    page = (ROOT / "docs" / "how-to" / "ray.md").read_text()
    match = re.search(r'```yaml title="ray-cluster.yaml"\n(.*?)```', page, re.DOTALL)
    assert match is not None
    manifest = yaml.safe_load(match[1])
    spec = manifest["spec"]
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayCluster")
    assert spec["authOptions"] == {"mode": "token"}
    project = (ROOT / "pyproject.toml").read_text()
    extra = re.search(r'^ray = \["(.*)"\]$', project, re.MULTILINE)
    assert extra is not None
    assert spec["rayVersion"] in Requirement(extra[1]).specifier
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        variables = {variable["name"] for variable in container["env"]}
        assert group["rayStartParams"]["num-cpus"] == "0"
        assert container["image"].endswith(f":{spec['rayVersion']}")
        assert "RAY_memory_monitor_refresh_ms" in variables
        assert not [name for name in variables if "subreaper" in name]
    for group in spec["workerGroupSpecs"]:
        # KubeRay writes the parameter into a shell command, so it is JSON in quotes.
        resources = json.loads(json.loads(group["rayStartParams"]["resources"]))
        assert ray_resources.AGENT in resources
