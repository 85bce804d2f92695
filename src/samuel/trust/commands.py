"""The commands in samuel.toml and in tasks, which must be trusted: they may have come with a clone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from samuel.base import paths
from samuel.base.decoding import decode_json
from samuel.config.model import AgentSettings, Config, FleetSettings, LaneSettings, Methodology
from samuel.files import atomic
from samuel.files.regular import read_regular
from samuel.files.survey import TooManyFiles, survey
from samuel.git.git import Git
from samuel.git.settings import hooks_beside
from samuel.process import environment
from samuel.trust.digests import digest_file, digest_text, read_file

MAX_SHOWN_BYTES = 4096  # of each file

CommandText = tuple[str, str, str]  # name, digest, content
DIRECTORY = "requested-checks"
TaskChecks = tuple[tuple[str, tuple[str, ...]], ...]
"""The ids of tasks, and the commands of each, in the order of the task file."""


def quality(methodology: Methodology) -> CommandText | None:
    """The quality checks of a methodology, as one text: their order matters too."""
    if not methodology.quality_checks:
        return None
    return _text(f"checks:{methodology.name}", "".join(f"{command}\n" for command in methodology.quality_checks))


def sealed(methodology: Methodology) -> CommandText | None:
    """The sealed checks of a methodology, as one text."""
    if not methodology.sealed_checks:
        return None
    content = "".join(f"{command}\n" for command in methodology.sealed_checks)
    return _text(f"sealed-checks:{methodology.name}", content)


def canary(methodology: Methodology) -> CommandText | None:
    """The command that makes the checks of a methodology fail."""
    return _text(f"canary:{methodology.name}", f"{methodology.canary}\n") if methodology.canary else None


def task_checks(methodology: str, checks: Iterable[tuple[str, Sequence[str]]]) -> CommandText | None:
    """The checks that tasks bring along, as one text: (the task's id, its commands) in the order of the task file.

    They came with a PRD, so they are agreed to like the checks in samuel.toml.
    """
    content = "".join(f"task {id}: {command}\n" for id, commands in checks for command in commands)
    return _text(f"checks:{methodology}:tasks", content) if content else None


def commit_hooks(methodology: Methodology, git: Git) -> CommandText | None:
    """The git hooks that a run's commits would run, wherever `core.hooksPath` leads; None if there are none.

    If a hook cannot be read, the digest is "", which cannot be agreed to.
    """
    if not (methodology.commit and methodology.commit_hooks and git.is_repository):
        return None
    name, directory = f"commit-hooks:{methodology.name}", hooks_beside(git.hooks_directory())
    try:
        files = sorted(path for path in survey(directory) if not path.endswith(".sample"))
        content = "".join(_file(directory / path, path) for path in files)
    except FileNotFoundError:
        return None
    except (OSError, TooManyFiles) as error:
        return name, "", f"cannot be read: {error}\n"
    return _text(name, content) if files else None


def agent(settings: AgentSettings, root: Path) -> CommandText:
    """The command of an agent, and the digest of each file of the project that it names."""
    lines = [" ".join(repr(word) for word in settings.command)]
    if settings.env:
        lines.append(f"receives {', '.join(settings.env)}")
    for word in settings.command:
        if not os.path.isabs(word) and (root / word).is_file():
            lines.append(f"{word}: sha256 {digest_file(str(root / word))}")
    return _text(f"agent:{settings.name}", "".join(f"{line}\n" for line in lines))


def scripted(root: Path) -> CommandText | None:
    """The steps of the scripted agent: programs, and files that it copies into the project."""
    directory = root / paths.SCRIPTED
    if not directory.is_dir():
        return None
    try:
        files = sorted(survey(directory))
    except (OSError, TooManyFiles) as error:
        return _text("agent:scripted", f"cannot be read: {error}\n")
    return _text("agent:scripted", "".join(_file(directory / name, name) for name in files))


def of_agent(name: str, agents: Mapping[str, AgentSettings], root: Path) -> CommandText | None:
    """What must be trusted before this agent runs; None for a program that the user installed."""
    if name in agents and agents[name].command:
        return agent(agents[name], root)
    return scripted(root) if name == "scripted" else None


def allowed(config: Config) -> CommandText | None:
    """The commands that hooks may have run: samuel.toml may have come with the clone, like the hook."""
    if not config.allow_commands:
        return None
    return _text("session:commands", "".join(f"{command}\n" for command in config.allow_commands))


def ranker(config: Config) -> CommandText | None:
    """The setting that an agent ranks abilities: it costs money, and the agent reads texts of the project."""
    if config.abilities.ranker != "agent":
        return None
    return _text("abilities:ranker", "`samuel ability route` asks the configured agent which abilities fit\n")


def lanes(settings: LaneSettings) -> CommandText | None:
    """What makes a lane ready: a command, and the files that an agent gets to see there."""
    lines = [f"setup: {settings.setup}\n"] if settings.setup else []
    lines += [f"copies `{path}` into each lane\n" for path in settings.copy]
    return _text("lanes", "".join(lines)) if lines else None


def fleet(settings: FleetSettings) -> CommandText | None:
    """The machines to which a project sends work, and what is started there."""
    lines = [f"lets agents work at `{place}`\n" for place in settings.places if not place.startswith("local:")]
    if settings.program != FleetSettings().program:
        lines.append(f"starts `{settings.program}` on other machines\n")
    return _text("fleet", "".join(lines)) if lines else None


def texts(config: Config) -> list[CommandText]:
    """Everything in a configuration that must be trusted before it runs."""
    root = config.file.parent if config.file else Path()
    checks = (
        text(methodology) for methodology in config.methodology.values() for text in (quality, sealed, canary)
    )
    hooks = (
        commit_hooks(methodology, Git(root, environment.clean()))
        for methodology in config.methodology.values()
        if methodology.commit_hooks
    )
    agents = (of_agent(name, config.agents, root) for name in (*config.agents, "scripted"))
    others = (allowed(config), ranker(config), lanes(config.lanes), fleet(config.fleet))
    return [text for text in (*checks, *hooks, *agents, *others) if text]


def _file(path: Path, name: str) -> str:
    """The beginning of a file, for the user to read, and its digest."""
    digest, beginning = read_file(str(path), MAX_SHOWN_BYTES)
    return f"== {name}  sha256 {digest or 'cannot be read'}\n{beginning.decode('utf-8', 'replace')}\n"


def _text(name: str, content: str) -> CommandText:
    return name, digest_text(content), content


def remember_requested(state: Path, key: str, methodology: str, checks: TaskChecks) -> None:
    """Keep which checks of tasks a coordinator asked this machine to run: its owner reads them before agreeing.

    The tasks are at the coordinator: without this, `samuel trust` in the clone of a machine would show nothing.
    `state` is the user's, `key` the project's in the trust store.
    """
    by_methodology = {**requested_checks(state, key), methodology: checks}
    file = state / DIRECTORY / f"{key}.json"
    with suppress(OSError):  # then `samuel trust` does not show them, and they stay refused
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic.write_bytes(file, msgspec.json.encode(by_methodology), 0o600, durable=False)


def requested_checks(state: Path, key: str) -> dict[str, TaskChecks]:
    """What was asked for last, by methodology."""
    try:
        return decode_json(read_regular(state / DIRECTORY / f"{key}.json"), dict[str, TaskChecks])
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return {}
