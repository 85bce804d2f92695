"""The YAML of a shipped hook, as it is written into a project when somebody enables it."""

from __future__ import annotations

from importlib.resources import files

from samuel.rules.table import SHIPPED


def definition(name: str) -> bytes | None:
    """None if there is no such hook. It is written disabled."""
    if name not in SHIPPED:
        return None
    return files("samuel.shipped").joinpath("definitions", f"{name}.yaml").read_bytes()
