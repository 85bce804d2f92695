"""Which flags a container needs on this machine: tried once, then remembered.

Machines differ in ways no setting tells beforehand: limits that only a more powerful user may raise, a runtime
that refuses the layout of the control groups, no systemd to ask for one, no network to build. So a container
that does nothing is started, first plainly, then with one more concession at a time.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.files import atomic
from samuel.process.spawn import Finished

CACHE = "containers.json"
_ULIMITS = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")
_NO_SYSTEMD = ("--cgroup-manager=cgroupfs", "--events-backend=file")

_known: dict[str, Flags] = {}


class Flags(NamedTuple):
    before: tuple[str, ...] = ()
    """Between the program and `run`."""
    after: tuple[str, ...] = ()
    """After `run`."""


def find(program: str, network: bool, cache: Path | None, attempt: Callable[[Flags], Finished]) -> Flags | str:
    """Flags with which `attempt` succeeds, those that did last time first; or what the plain attempt said."""
    key = _key(program, network)
    remembered = _known.get(key) or _load(cache).get(key)
    candidates = _candidates(program, network)
    why = ""
    for flags in [remembered, *candidates] if remembered else candidates:
        tried = attempt(flags)
        if tried.ended == "exited" and tried.returncode == 0:
            _known[key] = flags
            if (stored := _load(cache)).get(key) != flags:
                _save(cache, {**stored, key: flags})
            return flags
        why = why or tried.stderr.decode("utf-8", "replace").strip() or tried.why or tried.ended
    return why


def known(program: str, network: bool, cache: Path | None) -> Flags | None:
    key = _key(program, network)
    return _known.get(key) or _load(cache).get(key)


def _candidates(program: str, network: bool) -> list[Flags]:
    """From none to all, the fewer the earlier."""
    podman = os.path.basename(program) == "podman"
    runtimes = [(), *((f"--runtime={name}",) for name in ("runc", "crun") if shutil.which(name, path=_SBIN))]
    managers = [(), _NO_SYSTEMD] if podman else [()]
    networks = ["", "--network=host"] if network else ["--network=none"]
    all_of_them = itertools.product(runtimes if podman else [()], managers, [(), _ULIMITS], networks)
    found = [
        Flags((*runtime, *manager), (*limits, *([net] if net else [])))
        for runtime, manager, limits, net in all_of_them
    ]
    return sorted(found, key=lambda flags: len(flags.before) + len(flags.after))


_SBIN = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # where runtimes are, PATH or not


def _key(program: str, network: bool) -> str:
    """Everything that the answer depends on and that changes with an update."""
    parts = (program, *(found for name in ("runc", "crun") if (found := shutil.which(name, path=_SBIN))))
    return json.dumps([os.geteuid(), network, *((part, _age(part)) for part in parts)])


def _age(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


def _load(cache: Path | None) -> dict[str, Flags]:
    if cache is None:
        return {}
    try:
        found = json.loads((cache / CACHE).read_bytes())
        return {key: Flags(*map(_words, value)) for key, value in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # not there, or not ours: it is only a cache
        return {}


def _words(value: list[object]) -> tuple[str, ...]:
    return tuple(str(word) for word in value)


def _save(cache: Path | None, flags: Mapping[str, Flags]) -> None:
    if cache is None:
        return
    try:
        cache.mkdir(parents=True, exist_ok=True)
        atomic.write_text(cache / CACHE, json.dumps(flags, indent=1), durable=False)
    except OSError:  # a read-only home: then each process tries once
        pass
