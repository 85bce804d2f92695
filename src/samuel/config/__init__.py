"""samuel.toml as one frozen model, or all of its problems at once, with file, line and the nearest valid name.

Writing is in `samuel.config.edit`, which is not imported here: few commands write, and tomlkit is slow to import.
"""

from __future__ import annotations

from pathlib import Path

from samuel.config.duration import format_duration, parse_duration
from samuel.config.model import (
    DEFAULT,
    REST,
    AgentSettings,
    Config,
    EventSettings,
    HandlerRef,
    Limits,
    Methodology,
    Pilot,
    SandboxSettings,
)
from samuel.config.personal import Personal, environment, is_absent, load_personal


def load(file: Path) -> Config:
    """The configuration in `file`; the defaults if there is no such file; ConfigError with all of its problems."""
    if is_absent(file):
        return Config()
    from samuel.config.project_file import load as read  # the parser of TOML files, and what checks their values

    return read(file)


__all__ = [
    "DEFAULT",
    "REST",
    "AgentSettings",
    "Config",
    "EventSettings",
    "HandlerRef",
    "Limits",
    "Methodology",
    "Personal",
    "Pilot",
    "SandboxSettings",
    "environment",
    "format_duration",
    "load",
    "load_personal",
    "parse_duration",
]
