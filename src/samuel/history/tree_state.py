"""What a run knows of its work tree: saved with the run, so that a killed one goes on with it."""

from __future__ import annotations

import msgspec


class KeptAttempt(msgspec.Struct, frozen=True):
    """What the last attempt of a task left."""

    tree: str
    """All of it, also the files that were put back for the checks."""
    base: str
    """The verified tree at that time."""
    ref: str = ""
    put_back: tuple[str, ...] = ()
    """The files that the next attempt begins with as they are in the verified tree."""


class TreeState(msgspec.Struct, frozen=True, kw_only=True):
    """What a run knows of its work tree. Paths are as `saved_name` has them."""

    verified: str = ""
    """The tree as of the last completed task, or of the start of the run; "" before `begin`."""
    left: str = ""
    """The work tree when Samuel last looked: what changed since, it did not do."""
    start: str = ""
    """The work tree that the attempt under way, or the last one, began with."""
    task: str = ""
    """The task of the attempt under way; "" when its result is saved: completed, kept or put away."""
    put_back: tuple[str, ...] = ()
    """The paths that are in the work tree as they are in the verified tree, and not as the attempt under way has
    them: those of the checks, while they are judged and afterwards."""
    outside: tuple[str, ...] = ()
    """The paths beside the project that the attempt under way changed, from the top of the repository."""
    attempts: dict[str, KeptAttempt] = {}
    """By id of a task that is not completed: its last attempt."""
    owned: tuple[str, ...] = ()
    """The paths that agents changed."""
    person: tuple[str, ...] = ()
    """The paths that a person changed and did not commit: never written."""


NO_TREE = TreeState()
