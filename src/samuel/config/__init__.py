"""samuel.toml as one frozen model, or all of its problems at once, with file, line and the nearest valid name.

Writing is in `samuel.config.edit`, which is not imported here: few commands write, and tomlkit is slow to import.
"""

from samuel.config.duration import format_duration, parse_duration
from samuel.config.load import load
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
from samuel.config.personal import Personal, environment, load_personal

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
