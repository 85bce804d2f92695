"""What a sandbox is asked for, and what comes of it: a command to start and its environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol


class SandboxRequest(Protocol):
    """What is read of a sandbox; the event's record and the config's both have it."""

    @property
    def kind(self) -> str: ...
    @property
    def image(self) -> str | None: ...
    @property
    def network(self) -> bool: ...
    @property
    def volumes(self) -> Sequence[str]: ...


class Command(NamedTuple):
    """What to start, from anywhere: the sandbox sets the working directory itself."""

    argv: list[str]
    env: dict[str, str]
    pass_fds: tuple[int, ...] = ()


class Private(NamedTuple):
    """A directory that is writable and empty in the sandbox, but for some files; what is written there is lost."""

    path: str
    visible_files: tuple[str, ...]


def _ignore_report(text: str) -> None: ...


@dataclass(frozen=True)
class Workspace:
    """Where the program works, and what is around it."""

    root: Path
    """The project: the working directory, and the only place to write."""

    state: Path
    """The run's state directory, below `.samuel/run`."""

    host: Mapping[str, str]
    """The user's own environment: what the sandbox program itself runs with."""

    cache: Path | None = None
    """Where it is remembered which flags this machine's containers need; None: asked once a process."""

    visible: tuple[str, ...] = ()
    """Directories that the program needs to read, wherever they are."""

    private: tuple[Private, ...] = ()
    """Directories of the user's that the program gets a fresh one of."""

    readable: tuple[str, ...] = ()
    """Directories outside of the project that the program reads in every kind of sandbox, also a container."""

    report: Callable[[str], None] = _ignore_report
    """Gets a line for each thing that the program left for git to run outside, and that was moved away."""


class Volume(NamedTuple):
    source: str
    target: str
    writable: bool


def volumes(sandbox: SandboxRequest, place: Workspace) -> list[Volume]:
    """`from:to[:ro]`, with `~` for the user's home."""
    parsed = []
    for text in sandbox.volumes:
        source, _, rest = text.partition(":")
        target, _, mode = rest.partition(":")
        source, target = (
            place.host.get("HOME", "~") + path[1:] if path == "~" or path.startswith("~/") else path
            for path in (source, target)
        )
        parsed.append(Volume(source, target or source, mode != "ro"))
    return parsed
