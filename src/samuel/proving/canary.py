"""Canaries: commands by which a proof learns whether a client's tool calls reach Samuel.

While a proof is under way, a temporary guard is in the chain of PreAbilityCall of each `samuel emit` of the user.
It denies exactly the commands with the proof's own random mark, and notes every call with such a mark that it was
asked about. It is a guard of the user, so that no samuel.toml can leave it out. The marks are in the user's state
directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from samuel.base.paths import CANARIES
from samuel.events import names
from samuel.files.regular import read_regular
from samuel.hooks.handler import Handler, Origin, Role

NAME = "bridge-canary"
ALLOWED, DENIED = "allowed", "denied"
LONGEST_PROOF = 3600.0  # seconds; a proof ends the client long before


class Canary(NamedTuple):
    """One proof's marks, and the file in which the guard notes what it was asked about."""

    mark: str
    notes: Path

    @property
    def allowed(self) -> str:
        """What a command contains that the guard lets pass."""
        return f"{self.mark}-{ALLOWED}"

    @property
    def denied(self) -> str:
        """What a command contains that the guard denies."""
        return f"{self.mark}-{DENIED}"

    @property
    def reason(self) -> str:
        """Why the guard denies it, as the model should be told."""
        return f"the canary {self.mark} is denied to prove that Samuel's guards are asked"

    def judged(self) -> frozenset[str]:
        """Which of `allowed` and `denied` the guard was asked about."""
        try:
            return frozenset(read_regular(self.notes).decode().split())
        except FileNotFoundError:
            return frozenset()


@contextmanager
def released(state: Path) -> Iterator[Canary]:
    """A new canary; its guard is in force until this ends. `state` is the user's state directory."""
    directory = state / CANARIES
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    mark = f"samuel-canary-{os.urandom(16).hex()}"
    canary = Canary(mark, directory / mark)
    canary.notes.touch(mode=0o600)
    try:
        yield canary
    finally:
        canary.notes.unlink(missing_ok=True)
        with suppress(OSError):  # another proof is under way
            directory.rmdir()


def guards(state: Path, now: float) -> list[Handler]:
    """The temporary guard, if a proof is under way at the time `now`."""
    directory = state / CANARIES
    try:
        marks = sorted(os.listdir(directory))
    except OSError:
        return []
    canaries = [canary for mark in marks if _is_current(canary := Canary(mark, directory / mark), now)]
    if not canaries:
        return []
    guard = Handler(
        name=NAME,
        owner=NAME,
        event=names.PRE_ABILITY_CALL,
        origin=Origin.USER,
        runtime="inline",
        role=Role.GUARD,
        function=partial(_judge, canaries),
    )
    return [guard]


def _is_current(canary: Canary, now: float) -> bool:
    """False for what a killed proof left, which is removed."""
    try:
        current = now - canary.notes.stat().st_mtime < LONGEST_PROOF
    except FileNotFoundError:
        return False
    if not current:
        with suppress(OSError):
            canary.notes.unlink()
    return current


def _judge(canaries: Sequence[Canary], event: Any) -> dict[str, Any]:
    words = list(_texts(event.tool_input))
    for canary in canaries:
        if any(canary.denied in text for text in words):
            _note(canary, DENIED)
            return {"decision": "deny", "reason": canary.reason}
        if any(canary.allowed in text for text in words):
            _note(canary, ALLOWED)
    return {}


def _note(canary: Canary, word: str) -> None:
    """Note the call, unless the proof has ended meanwhile."""
    with suppress(FileNotFoundError):
        descriptor = os.open(canary.notes, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"{word}\n".encode())
        finally:
            os.close(descriptor)


def _texts(value: object) -> Iterator[str]:
    """Every text in the input of a call."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)
