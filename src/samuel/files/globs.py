"""Whether patterns as in a .gitignore choose a path: `services/**`, `*.py`, `/build/`, `!docs/*.md`.

No pattern can make it slow: a path is walked once for each pattern, whatever stars are in it. The imports are few,
since `samuel emit` uses this before the engine is loaded.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LONGEST = 1000
"""Characters between two slashes: `translate` takes the square of them. With more a pattern chooses nothing."""


def any_chosen(paths: Iterable[str], patterns: Sequence[str]) -> bool:
    """Is one of `paths` chosen? Paths without a part that a pattern could begin with are skipped quickly."""
    could_be = _first_part_matcher(tuple(patterns))
    return any(chosen(path, patterns) for path in paths if could_be is None or any(map(could_be, path.split("/"))))


def chosen(path: str, patterns: Sequence[str]) -> bool:
    """Does the last pattern that fits choose `path`, a file relative to where the patterns hold?"""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    verdict = False
    for pattern in patterns:
        is_chosen = not pattern.startswith("!")
        if is_chosen is not verdict and _fits(pattern.removeprefix("!"), parts):
            verdict = is_chosen
    return verdict


def _fits(pattern: str, parts: Sequence[str]) -> bool:
    """Does a pattern (without its `!`) fit a path? One that fits a directory fits everything below it."""
    components, only_directories = _components(pattern)
    reached = {0}  # how many parts the components so far may stand for
    for at, component in enumerate(components):
        if component == "**":
            is_last = at == len(components) - 1  # then it stands for what is below, not for the directory itself
            first = min(reached) + is_last
            reached = set(range(first, len(parts) + 1))
        else:
            fits = _matcher(component)
            reached = {done + 1 for done in reached if done < len(parts) and fits(parts[done])}
        if not reached:
            return False
    return min(reached) < len(parts) or not only_directories


@lru_cache(maxsize=1024)
def _components(pattern: str) -> tuple[tuple[str, ...], bool]:
    """The parts of a pattern, and whether it fits directories only.

    A pattern without a slash before its end fits at every level.
    """
    names = [name for name in pattern.split("/") if name]
    anchored = "/" in pattern.rstrip("/")
    return (*(() if anchored else ("**",)), *names), pattern.endswith("/")


@lru_cache(maxsize=128)
def _first_part_matcher(patterns: tuple[str, ...]) -> Callable[[str], re.Match[str] | None] | None:
    """Matches the parts of a path that a pattern can begin with; None if a pattern can begin with any part."""
    components = (_components(pattern)[0] for pattern in patterns if not pattern.startswith("!"))
    begin = [next((name for name in names if name != "**"), "**") for names in components]
    return None if "**" in begin else re.compile("|".join(map(_expression, begin))).match


@lru_cache(maxsize=1024)
def _matcher(component: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(_expression(component)).match


def _expression(component: str) -> str:
    if len(component) > LONGEST:
        return "(?!)"
    # fnmatch has no escapes, and spells "not these" in one way only.
    plain = re.sub(r"\\(.)", r"[\1]", component).replace("[^]", "^").replace("[^", "[!")
    return translate(plain)
