"""The YAML of a shipped hook, as `samuel hooks enable` writes it into a project."""

from __future__ import annotations

from importlib.resources import files


def definition(name: str) -> bytes:
    """The YAML of one of `table.SHIPPED_HOOKS`, with `enabled: false`."""
    return files("samuel.shipped").joinpath(name, "definition.yaml").read_bytes()
