"""Where handlers are found, and which of two with the same name is heard.

Nothing here is run that its owner did not agree to: files are listed, and only trusted ones are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from samuel.hooks.handler import Handler, Origin, Status
from samuel.runtimes.python import Python
from samuel.sources import distributions, hook_files
from samuel.sources.answers import Answers
from samuel.sources.index import Index
from samuel.trust.permit import Permit


class Place(NamedTuple):
    """What the sources look at."""

    root: Path
    home: Path
    distributions: Sequence[str]
    permit: Permit
    python: Python
    project_answers: Answers
    user_answers: Answers
    looked_through: Index


def project_hooks(place: Place) -> list[Handler]:
    permit, answers = place.permit, place.project_answers
    found = hook_files.find(place.root, Origin.PROJECT, answers, permit.objections, permit.digests)
    return [*found, *hook_files.gone(place.root, Origin.PROJECT, answers, permit.gone)]


def user_hooks(place: Place) -> list[Handler]:
    """The user's own need no agreement. A project that *is* the home directory has no second set of them."""
    if place.home.resolve() == place.root:
        return []
    return hook_files.find(place.home, Origin.USER, place.user_answers, lambda directory: {}, place.permit.digests)


def installed(place: Place) -> list[Handler]:
    return distributions.find(place.distributions, place.python, place.permit.text, place.project_answers)


# Highest precedence first. A new source is a function and a line here.
STANDALONE: tuple[Callable[[Place], list[Handler]], ...] = (project_hooks, user_hooks)
OTHERS: tuple[Callable[[Place], list[Handler]], ...] = (installed,)


def discover(place: Place, given: Sequence[Handler] = ()) -> tuple[Handler, ...]:
    """Everything found, whatever its state. `given` are the handlers that live in this process."""
    standalone = place.looked_through.recall(place.permit)
    if standalone is None:
        standalone = _shadowed([handler for source in STANDALONE for handler in source(place)])
        place.looked_through.remember(standalone, place.permit)
    return (*standalone, *(handler for source in OTHERS for handler in source(place)), *given)


def _shadowed(found: Sequence[Handler]) -> list[Handler]:
    """A standalone hook hides those of the same name further down. One that does not work hides nothing."""
    heard: dict[str, str] = {}
    result = []
    for handler in found:
        if handler.status is Status.ACTIVE:
            first = heard.setdefault(handler.owner, handler.path)
            if first != handler.path:
                why = f"`{first}` has the same name and comes first"
                handler = replace(handler, status=Status.SHADOWED, reason=why)
        result.append(handler)
    return result
