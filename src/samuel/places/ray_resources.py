"""What the machines of a Ray cluster offer, and whether an attempt can ever run on one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

AGENT = "agent"
"""The resource that counts attempts: a machine started with `{"agent": 3}` runs three at once."""

_OF_RAY = ("CPU", "GPU", "memory", "object_store_memory")
_PREFIXES_OF_RAY = ("node:", "accelerator_type:", "bundle_group_")


class RayMachine(msgspec.Struct, frozen=True):
    """A node of the cluster, as Ray's head knows it."""

    id: str
    address: str
    alive: bool
    resources: dict[str, float]
    problem: str = ""
    """Why it cannot run attempts; "" if it can."""

    @property
    def slots(self) -> int:
        return int(self.resources.get(AGENT, 0)) if self.alive and not self.problem else 0


def candidates(machines: Iterable[RayMachine], only: str, avoided: Collection[str]) -> list[RayMachine]:
    """The machines that may run an attempt: `only` this one, unless it is "", and none that is `avoided`."""
    return [
        machine
        for machine in machines
        if machine.alive and not machine.problem and machine.id not in avoided and only in ("", machine.id)
    ]


def offer(machines: Iterable[RayMachine]) -> dict[str, float]:
    """What all living machines offer together of what was declared with `--resources`, not added by Ray itself."""
    total: dict[str, float] = {}
    for machine in machines:
        for name, amount in machine.resources.items() if machine.alive else ():
            if name not in _OF_RAY and not name.startswith(_PREFIXES_OF_RAY):
                total[name] = total.get(name, 0) + amount
    return total


def demand(resources: Mapping[str, float], offered: Mapping[str, float]) -> dict[str, float]:
    """What an attempt takes of a machine: a slot and, if the cluster counts more than slots, all that it names.

    A cluster that declares nothing but `agent` says that each of its machines has every agent.
    """
    slot = {AGENT: resources.get(AGENT, 1)}
    return {**slot, **resources} if set(offered) - {AGENT} else slot


def missing(needed: Mapping[str, float], machines: Iterable[RayMachine]) -> str:
    """Why no living machine can ever meet the demand, by name; "" if one can."""
    living = [machine for machine in machines if machine.alive]
    for name, amount in needed.items():
        best = max((machine.resources.get(name, 0) for machine in living), default=0)
        if best < amount:
            return f"no machine of the Ray cluster offers `{name}`" + (f": {amount:g}" if best else "")
    if any(all(machine.resources.get(name, 0) >= needed[name] for name in needed) for machine in living):
        return ""
    return "no machine of the Ray cluster offers all of " + ", ".join(f"`{name}`" for name in needed)
