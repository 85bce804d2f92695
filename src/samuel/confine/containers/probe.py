"""Which flags a container needs on this machine: tried once, then remembered.

Machines differ in ways no setting tells beforehand: limits that only a more powerful user may raise, a runtime
that refuses the layout of the control groups, no systemd to ask for one, no network to build. So a container
that does nothing is started, first plainly, then with one more concession at a time. What is remembered is
believed only where it is one of the concessions: a planted file cannot ask for `--privileged`.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from samuel.files.keyed_cache import KeyedCache
from samuel.files.survey import signature_if_exists
from samuel.process.output import failure
from samuel.process.spawn import Finished

CACHE = "containers"
LIMITS = ("memory", "pids")
DIRECT = "direct"
_LONGEST = 300  # characters of one refusal
_ULIMITS = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")
_NO_SYSTEMD = ("--cgroup-manager=cgroupfs", "--events-backend=file")

_flags_in_process: dict[str, Flags] = {}


class Flags(NamedTuple):
    before: tuple[str, ...] = ()
    """Between the program and `run`."""
    after: tuple[str, ...] = ()
    """After `run`."""
    without: tuple[str, ...] = ()
    """Of LIMITS, those that this machine cannot set; DIRECT where a program cannot have our pipes themselves."""
    refused: tuple[str, ...] = ()
    """What the engine said to fewer concessions; nothing when it needed none."""


def find(
    program: str, network: bool, cache: Path | None, attempt: Callable[[Flags], Finished], *, limits: bool = False
) -> Flags | str:
    """Flags with which `attempt` exits with 0, those that did last time first; or what the plain attempt said.

    With `limits` the attempt also asks for everything in LIMITS, and for DIRECT, that its flags are not `without`.
    """
    remembered = remembered_flags(program, network, cache, limits=limits)
    candidates = _candidates(program, network, limits)
    refusals: list[str] = []
    for flags in [remembered, *candidates] if remembered else candidates:
        if not (refusal := failure(attempt(flags))):
            last_lines = dict.fromkeys(earlier.splitlines()[-1][:_LONGEST] for earlier in refusals)
            flags = flags._replace(refused=flags.refused or tuple(last_lines))
            return _remember(flags, _key(program, network, limits), cache)
        refusals.append(refusal)
    return refusals[0]


def remembered_flags(program: str, network: bool, cache: Path | None, *, limits: bool = False) -> Flags | None:
    key = _key(program, network, limits)
    flags = _flags_in_process.get(key) or _cached(cache).get(key)
    return flags if flags and flags._replace(refused=()) in _candidates(program, network, limits) else None


def _remember(flags: Flags, key: str, cache: Path | None) -> Flags:
    _flags_in_process[key] = flags
    if (cached := _cached(cache)).get(key) != flags:
        cached.add(key, flags)
    return flags


def _candidates(program: str, network: bool, limits: bool) -> list[Flags]:
    """From none to all, the fewer the earlier; a container without its limits only when nothing else helps."""
    podman = os.path.basename(program) == "podman"
    runtimes = [(), *((f"--runtime={name}",) for name in ("runc", "crun") if shutil.which(name, path=_SBIN))]
    managers = [(), _NO_SYSTEMD] if podman else [()]
    networks = ["", "--network=host"] if network else ["--network=none"]
    all_of_them = itertools.product(
        runtimes if podman else [()], managers, [(), _ULIMITS], networks, _lacking(podman) if limits else [()]
    )
    candidates = [
        Flags((*runtime, *manager), (*ulimits, *([net] if net else [])), without)
        for runtime, manager, ulimits, net, without in all_of_them
    ]
    return sorted(candidates, key=lambda flags: (len(flags.without), len(flags.before) + len(flags.after)))


def _lacking(podman: bool) -> list[tuple[str, ...]]:
    return [(), (DIRECT,), LIMITS, (*LIMITS, DIRECT)] if podman else [(), LIMITS]


_SBIN = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # where runtimes are, PATH or not


def _key(program: str, network: bool, limits: bool) -> str:
    """Everything that the answer depends on and that changes with an update."""
    parts = (program, *(runtime for name in ("runc", "crun") if (runtime := shutil.which(name, path=_SBIN))))
    return json.dumps([os.geteuid(), network, limits, *((part, signature_if_exists(part)) for part in parts)])


def _cached(cache: Path | None) -> KeyedCache[Flags]:
    return KeyedCache(cache and cache / CACHE, Flags)
