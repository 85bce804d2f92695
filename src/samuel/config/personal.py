"""`~/.samuel/config.toml`: what one person prefers, on all their projects.

Who answers to an event, and in what order, is for the project's samuel.toml alone: two people must get the same
chain. So there are no hooks and no methodologies here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from samuel.config import kinds
from samuel.config.lines import TomlLines
from samuel.config.model import Config
from samuel.config.reader import ProblemReport
from samuel.config.source import read_source

PROJECT_ONLY = ("hooks", "methodology")


@dataclass(frozen=True)
class Personal:
    agent: str = ""
    """The agent for projects that name none."""

    environment: str = ""
    """Where this machine is: dev, prod, …; before samuel.toml, whose word is for machines that do not say."""

    live: bool = True
    """`[display]`: a live display where there is a terminal."""

    verbose: bool = False
    """`[display]`: show what agents say, as with -v."""


def environment(personal: Personal, config: Config) -> str:
    """Where this is, unless the call itself says: SAMUEL_ENV, the machine's own word, the project's.

    The machine before the project: samuel.toml is the same in every clone, also in the one in production.
    """
    return os.environ.get("SAMUEL_ENV", "") or personal.environment or config.environment


def load_personal(file: Path) -> Personal:
    """What the file says; the defaults without one; ConfigError with everything wrong in it."""
    source = read_source(file)
    if source is None:
        return Personal()
    report = ProblemReport(file, TomlLines(source.text))
    top = report.read(source.values)
    for key in PROJECT_ONLY:
        if top.take(key, lambda value: value, None) is not None:
            top.refuse(
                key, f"`{key}` belongs into a project's samuel.toml", "here it would differ from person to person"
            )
    display = top.table("display")
    found = Personal(
        agent=top.take("agent", kinds.identifier, Personal.agent),
        environment=top.take("environment", kinds.identifier, Personal.environment),
        live=display.take("live", kinds.flag, Personal.live),
        verbose=display.take("verbose", kinds.flag, Personal.verbose),
    )
    report.finish()
    return found
