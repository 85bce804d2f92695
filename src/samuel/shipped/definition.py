"""The YAML of a shipped hook, as it is written into a project when somebody enables it."""

from __future__ import annotations

from importlib.resources import files


def definition(name: str) -> bytes:
    """Of one of `rules.table.SHIPPED`. It is written disabled."""
    return files("samuel.shipped").joinpath("definitions", f"{name}.yaml").read_bytes()
