"""Handlers of installed Python distributions: entry points in the group `samuel.hooks`.

Only distributions in `distributions` of samuel.toml are used, and only after the user trusted them, since
samuel.toml may come from a clone. They are searched where packages are installed, never in the project itself.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlparse

from msgspec.structs import replace

from samuel.base.printable import shell_word
from samuel.config.model import RESERVED_NAMES
from samuel.files.survey import TooManyFiles, survey
from samuel.hooks.handler import Handler, HandlerStatus, Origin, Outcome, unavailable, with_status
from samuel.runtimes.python import PythonRuntime
from samuel.sources.declarations import LOAD_SECONDS, DeclarationCache, FileDeclarations, declared
from samuel.sources.hook_files import declared_handler
from samuel.trust.digests import digest_file, digest_text

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP = "samuel.hooks"


class ListedDistribution(NamedTuple):
    """A distribution that samuel.toml names, and the text that a user trusts."""

    name: str
    text: str  # "" when it is not installed
    entry_points: tuple[EntryPoint, ...] = ()

    @property
    def digest(self) -> str:
        return digest_text(self.text)


def look_up(names: Iterable[str]) -> list[ListedDistribution]:
    """The distributions of these names. Only their metadata is read; nothing of them is imported."""
    if not (names := tuple(names)):
        return []
    from importlib.metadata import Distribution  # slow to import, and most projects list none

    search_path = [path for path in sys.path if path.rstrip("/").endswith(("site-packages", "dist-packages"))]
    listed = []
    for name in names:
        distribution = next(iter(Distribution.discover(name=name, path=search_path)), None)
        if distribution is None:
            listed.append(ListedDistribution(name, ""))
            continue
        points = tuple(point for point in distribution.entry_points if point.group == GROUP)
        lines = [f"{name} {distribution.version}", *sorted(f"{point.name} = {point.value}" for point in points)]
        lines += _editable(distribution)
        listed.append(ListedDistribution(name, "\n".join(lines) + "\n", points))
    return listed


def _editable(distribution: Distribution) -> list[str]:
    """An editable install runs the files of a work tree, perhaps of this clone, so their digest is included."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        if not origin.get("dir_info", {}).get("editable"):
            return []
        source = unquote(urlparse(str(origin.get("url", ""))).path)
        files = survey(source, skip=(".git", ".venv", "venv", "node_modules"))
    except (ValueError, AttributeError, OSError, TooManyFiles):
        return ["editable, from a place that cannot be read"]
    digests = [
        f"{path} {digest_file(os.path.join(source, path))}" for path in sorted(files) if path.endswith(".py")
    ]
    return [f"editable, from {source}", f"its Python files: sha256 {digest_text(chr(10).join(digests))}"]


def trust_name(name: str) -> str:
    return f"distribution:{name}"


def find(
    names: Iterable[str], python: PythonRuntime, refusal: Callable[[str, str], str], answers: DeclarationCache
) -> list[Handler]:
    handlers: list[Handler] = []
    for listed in look_up(names):
        if problem := _problem(listed):
            handlers.append(_unavailable(listed, HandlerStatus.BROKEN, problem))
        elif why := refusal(trust_name(listed.name), listed.digest):
            handlers += _refused(listed, answers, why)
        else:
            handlers += _load(listed, python, answers)
    return handlers


def _problem(listed: ListedDistribution) -> str:
    if not listed.text:
        return f"not installed; `pip install {shell_word(listed.name)}`"
    if not listed.entry_points:
        return f"it has no entry point in the group `{GROUP}`"
    if listed.name in RESERVED_NAMES:
        return f"`{listed.name}` is the name of the built-in handlers, so it cannot take part"
    return ""


def _refused(listed: ListedDistribution, answers: DeclarationCache, why: str) -> list[Handler]:
    """The handlers of a distribution that is not trusted (any more), in the places that they had when it was."""
    places: list[Handler] = []
    for point in listed.entry_points:
        if last := answers.last(_remembered(listed, point)):
            places += _declared(listed, point, last, len(places))
    return with_status(places, HandlerStatus.UNTRUSTED, why) or [
        _unavailable(listed, HandlerStatus.UNTRUSTED, why)
    ]


def _load(listed: ListedDistribution, python: PythonRuntime, answers: DeclarationCache) -> list[Handler]:
    handlers: list[Handler] = []
    for point in sorted(listed.entry_points, key=lambda point: point.name):
        reply = python.describe(point.value, f"{Origin.DISTRIBUTION.name}:{listed.name}", LOAD_SECONDS)
        answer = declared(reply.result) if reply.outcome is Outcome.OK else None
        if answer is None or answer.problem:
            why = answer.problem if answer else reply.message or str(reply.outcome)
            handlers.append(_unavailable(listed, HandlerStatus.BROKEN, f"`{point.value}`: {why}"))
            continue
        answers.keep(_remembered(listed, point), answer)
        handlers += _declared(listed, point, answer, len(handlers))
    return handlers


def _declared(
    listed: ListedDistribution, point: EntryPoint, answer: FileDeclarations, first: int
) -> list[Handler]:
    return [
        replace(
            declared_handler(declaration, listed.name, Origin.DISTRIBUTION, first + position),
            module=point.value,
            digest=listed.digest,
        )
        for position, declaration in enumerate(answer.declared)
    ]


def _remembered(listed: ListedDistribution, point: EntryPoint) -> str:
    return f"{trust_name(listed.name)}:{point.name}"


def _unavailable(listed: ListedDistribution, status: HandlerStatus, reason: str) -> Handler:
    return unavailable(listed.name, Origin.DISTRIBUTION, status, reason, runtime="python")
