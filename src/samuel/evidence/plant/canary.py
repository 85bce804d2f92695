"""A canary: the person's own command that makes the checks fail, for runners that Samuel can plant nothing for."""

from __future__ import annotations

from samuel.evidence.plant.planted import CalledRunner, Plant


def canary_plant(command: str) -> Plant | None:
    """The plant of `canary = "..."` in samuel.toml, which replaces every other one; None if there is no canary.

    It writes no files: the command runs in the room, over the attempt's tree, and then the check must be red.
    """
    return Plant(CalledRunner(""), "canary", "", command=command) if command.strip() else None
