"""Whether the sealed checks of a run can be used, and stay hidden: asked before an agent is paid."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.checks.sealed_judge import YES, sealed_word
from samuel.confine.sandbox.request import volumes
from samuel.evidence.sealed import SealedSurroundings, sealed_problem

PLACES = "leave `--place` out; `--parallel N` lets several agents work on this machine"


def refuse_unsealed(place: Workplace, notify: Callable[[str], None], *, elsewhere: bool) -> None:
    """Raise SamuelError if a sealed check cannot run, or could not be hidden; warn if nothing hides them."""
    if not place.sealed_checks:
        return
    if elsewhere:
        raise SamuelError(
            "sealed checks cannot judge work on other machines: it is judged where its agent could read them",
            PLACES,
        )
    around = _surroundings(place)
    for check in place.sealed_checks:
        if problem := sealed_problem(check, around):
            raise SamuelError(*problem)
    word = sealed_word(place.settings.sandbox.kind, is_clean=place.settings.evidence != "in place")
    if word != YES:
        notify(f"warning: sealed: {word}; `sandbox` in samuel.toml hides them")


def _surroundings(place: Workplace) -> SealedSurroundings:
    root, git = place.root, place.git
    needed: dict[str, str] = {}
    if git.is_repository:
        needed |= {str(git.top): "the repository", str(git.location().directory): "its git directory"}
    needed[str(root)] = "the project"
    if home := place.host.get("HOME", ""):
        needed[home] = "your home directory"
    needed[sys.prefix] = "Samuel itself"
    for own in (place.cache, place.record):
        if own is not None:
            needed[str(own)] = "the state of Samuel"
    for directory in place.host.get("PATH", "").split(os.pathsep):
        if os.path.isabs(directory):
            needed[directory] = f"`{directory}`, which is on PATH"
    volume_sources = [volume.source for volume in volumes(place.settings.sandbox, place.confinement)]
    return SealedSurroundings(git.top if git.is_repository else root, needed, volume_sources)
