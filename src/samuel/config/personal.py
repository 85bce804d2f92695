"""`~/.samuel/config.toml`: a user's preferences for all of their projects.

It has no hooks and no methodologies: which handlers run, and in what order, is decided by the project's
samuel.toml alone, so that two users get the same chain.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from samuel.config.model import Config

PROJECT_ONLY = ("hooks", "methodology")


def is_absent(file: Path) -> bool:
    """Whether there is no such file. One that cannot be looked at is there: its reader says what is wrong."""
    try:
        os.lstat(file)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


class Personal(msgspec.Struct, frozen=True):
    """The user's preferences."""

    agent: str = ""
    """The agent for projects whose samuel.toml names none."""

    environment: str = ""
    """The environment of this machine: dev, prod, …; it wins over samuel.toml's."""

    import_hooks: tuple[str, ...] = ()
    """The agents whose hooks in the home directory run in every project, and directories of plugins for them."""

    serve_idle: float | None = None
    """`[serve]`: the seconds without a call after which a server ends; None: samuel.toml decides."""

    live: bool = True
    """`[display]`: a live display where there is a terminal."""

    verbose: bool = False
    """`[display]`: show the output of agents, as with -v."""


def environment(personal: Personal, config: Config) -> str:
    """The environment of a call without `--env`: SAMUEL_ENV, the machine's, or the project's.

    The machine's wins over the project's: samuel.toml is the same in every clone, also in the one in production.
    """
    return os.environ.get("SAMUEL_ENV", "") or personal.environment or config.environment


def load_personal(file: Path) -> Personal:
    """The preferences in `file`; the defaults if there is no such file; ConfigError with all of its problems."""
    if is_absent(file):
        return Personal()
    from samuel.config import kinds  # the parser of TOML files, and what checks their values
    from samuel.config.reader import ProblemReport
    from samuel.config.source import read_source
    from samuel.files.toml.lines import toml_lines

    source = read_source(file)
    if source is None:
        return Personal()
    report = ProblemReport(file, toml_lines(source.text))
    top = report.read(source.values)
    for key in PROJECT_ONLY:
        if top.take(key, lambda value: value, None) is not None:
            top.refuse(
                key,
                f"`{key}` belongs in a project's samuel.toml",
                "it must be the same for all users of the project",
            )
    default = Personal()
    display = top.table("display")
    personal = Personal(
        agent=top.take("agent", kinds.identifier, default.agent),
        environment=top.take("environment", kinds.identifier, default.environment),
        import_hooks=top.take("import_hooks", kinds.user_hook_sources, default.import_hooks),
        serve_idle=top.table("serve").take("idle", kinds.timeout, default.serve_idle),
        live=display.take("live", kinds.flag, default.live),
        verbose=display.take("verbose", kinds.flag, default.verbose),
    )
    report.finish()
    return personal
