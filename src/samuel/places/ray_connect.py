"""Connecting to a Ray cluster, in the driver's process: refused when it is open, and explained when it fails.

Ray's own words for a wrong token, a wrong port and a cluster that is gone are the same: "Failed to connect".
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from samuel.places.place import PlaceBroken, PlaceLost
from samuel.places.ray_messages import RayLimits
from samuel.places.ray_resources import RayMachine
from samuel.process.spawn import run

_GUIDE = "see docs/how-to/ray.md"
_MAKE_TOKEN = (
    "make a token with `ray get-auth-token --generate`, copy ~/.ray/auth_token to every machine, set "
    f"RAY_AUTH_MODE=token there and here, and start Ray again; {_GUIDE}"
)
_UNAUTHENTICATED = "InvalidAuthToken"
_OTHER_VERSION = ("ersion mismatch", "was started with", "but this process is running Ray version")
_CONNECT_TIMEOUT = 10.0
_PROBE_TIMEOUT = 60.0
_LONGEST = 600  # characters of Ray's own words


def connect(address: str, limits: RayLimits) -> tuple[Any, dict[str, str]]:
    """The module `ray`, connected to the cluster, and the machines that did not pass their test, by id, with why.

    Raises PlaceBroken if a person has to do something, PlaceLost if the cluster may come back by itself.
    """
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        raise PlaceBroken(
            f"`ray:{address}` is refused: RAY_AUTH_MODE is not `token` here, and all who can reach a Ray cluster "
            "without a token can run commands on all of its machines",
            _MAKE_TOKEN,
        )
    if address.startswith("ray://"):
        raise PlaceBroken(
            f"`ray:{address}` is a Ray Client address, which Samuel does not use",
            f"run Samuel on a machine of the cluster and use `ray:auto` or `ray:HOST:PORT`; {_GUIDE}",
        )
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise PlaceBroken(
            f"`ray:{address}` needs Ray, which is not installed here: {error}",
            "run `pip install 'samuel-loop[ray]'` with the version of Ray that the cluster has",
        ) from None
    _check_head(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except (OSError, RuntimeError, ValueError, AssertionError, ray.exceptions.RayError) as error:
        raise _explained(address, str(error), answers=True) from None
    return ray, _problems_of_machines(ray, limits)


def machines(ray: Any, problems: Mapping[str, str]) -> tuple[RayMachine, ...]:
    """The nodes of the cluster. This call does not return while the head is away."""
    return tuple(
        RayMachine(
            node["NodeID"],
            node["NodeManagerAddress"],
            bool(node["Alive"]),
            dict(node["Resources"]),
            problems.get(node["NodeID"], ""),
        )
        for node in ray.nodes()
    )


def node_affinity(node: str) -> Any:
    """Ray's words for: on this node, or nowhere."""
    strategies = importlib.import_module("ray.util.scheduling_strategies")
    return strategies.NodeAffinitySchedulingStrategy(node, soft=False)


def _check_head(address: str) -> None:
    """The head answers with our token, and only with it. Ray itself takes minutes to see that nothing answers."""
    host, _, port = address.rpartition(":")
    if port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_TIMEOUT).close()
        except (OSError, OverflowError) as error:
            raise _explained(address, str(error), answers=False) from None
    plain = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    with ThreadPoolExecutor() as pool:
        without_token = pool.submit(_health_check, address, {**plain, "RAY_AUTH_MODE": "disabled"})
        answers, words = _health_check(address, dict(os.environ))
        if without_token.result()[0]:
            raise PlaceBroken(
                f"`ray:{address}` is refused: the cluster answers without a token, so anyone who can reach it can "
                "run commands on all of its machines",
                _MAKE_TOKEN,
            )
    if not answers:
        raise _explained(address, words, answers=False)


def _health_check(address: str, variables: dict[str, str]) -> tuple[bool, str]:
    """Whether the head answers a process with these variables, and Ray's words if it does not."""
    finished = run(
        [sys.executable, "-P", "-m", "ray.scripts.scripts", "health-check", *_address_option(address)],
        cwd="/",
        env=variables,
        timeout=_PROBE_TIMEOUT,
    )
    words = finished.stderr.decode(errors="replace").strip()
    return finished.ended == "exited" and finished.returncode == 0, words or "no answer in time"


def _address_option(address: str) -> tuple[str, ...]:
    return () if address == "auto" else ("--address", address)


def _explained(address: str, ray_text: str, *, answers: bool) -> PlaceBroken | PlaceLost:
    """What went wrong, told from Ray's words and whether the head answered at all."""
    short = " ".join(ray_text.split())[-_LONGEST:]
    if any(words in ray_text for words in _OTHER_VERSION):
        return PlaceBroken(
            f"`ray:{address}` has another version of Ray or Python than this machine: {short}",
            "install the same Ray and the same Python, to the last number, on all machines and here",
        )
    if _UNAUTHENTICATED in ray_text:
        return _wrong_token(address)
    if answers:
        return PlaceBroken(
            f"`ray:{address}` answers, but this machine cannot use it: {short}",
            "run Samuel on a machine of the cluster, with the same Ray, Python and token; `ray start "
            f"--address={address} --num-cpus=0` makes this machine a part of it; {_GUIDE}",
        )
    return PlaceLost(
        f"`ray:{address}` does not answer: {short}",
        "either no Ray head runs there, or the address is wrong, or a firewall is between; check with "
        f"`{' '.join(('ray', 'health-check', *_address_option(address)))}`",
    )


def _wrong_token(address: str) -> PlaceBroken:
    return PlaceBroken(
        f"`ray:{address}` refused the token of this machine",
        "the token in RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token must be that of the cluster's "
        "head: copy it from there",
    )


def _problems_of_machines(ray: Any, limits: RayLimits) -> dict[str, str]:
    """Let each machine that offers slots run a task of ours, in which exit codes have to arrive."""
    test = ray.remote(num_cpus=0, max_retries=0)(_exit_code_problem)
    tests = {
        machine.id: test.options(scheduling_strategy=node_affinity(machine.id)).remote()
        for machine in machines(ray, {})
        if machine.slots
    }
    problems = {}
    until = time.monotonic() + limits.connect
    for machine_id, result in tests.items():
        try:
            problem = ray.get(result, timeout=max(0.1, until - time.monotonic()))
        except ray.exceptions.RayTaskError as error:
            problem = f"Samuel cannot run there: {error.cause or error}; install samuel-loop for the Python of Ray"
        except ray.exceptions.RayError as error:
            problem = f"its test did not end: {type(error).__name__}"
        if problem:
            problems[machine_id] = problem
    return problems


def _exit_code_problem() -> str:
    """Runs on a node."""
    from samuel.places.ray_task import exit_code_problem  # this function alone is sent to the node

    return exit_code_problem()
