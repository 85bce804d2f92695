"""What the directories of hooks and plugins held when they were last looked through.

As long as every file in them is the same, and the same is agreed to, the answer is the same: then nothing is read,
hashed or asked again. A hook with a problem is looked at each time, since the problem may be gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from samuel.decoding import msgpack_decoder
from samuel.files import file_cache
from samuel.files.survey import ITSELF, Signature, TooManyFiles, survey_place
from samuel.hooks.handler import Handler, HandlerStatus
from samuel.trust.permit import Permit
from samuel.version import __version__


class _CachedIndex(msgspec.Struct, array_like=True):
    directories: dict[str, dict[str, Signature]]
    objections: dict[str, dict[str, str]]
    handlers: list[Handler]


_decode = msgpack_decoder(_CachedIndex)


class HookIndex:
    def __init__(
        self,
        file: Path,
        hooks: Sequence[Path],
        others: Sequence[Path],
        own: Path,
        agreed: str,
        *,
        fresh: bool = False,
    ) -> None:
        """`own` is the project: what lies below it needs a permit. `others` are agreed to in another way.

        `agreed` changes when the agreements do, or anything else that the answer depends on. A `fresh` one recalls
        nothing: the machine may have lost what a handler needs.
        """
        self._file = file
        self._others = {str(directory) for directory in others}
        self._places = [*map(str, hooks), *self._others]
        self._own = f"{own}/"
        self._stamp = f"{__version__} {agreed}"
        self._fresh = fresh
        self._found: dict[str, dict[str, Signature]] | None = None
        self.known: dict[str, dict[str, Signature]] | None = None
        """All files that the answer depends on, if it depends on nothing else."""

    def recall(self, permit: Permit) -> list[Handler] | None:
        """The handlers, if everything is as it was; the permit is told what it said of them."""
        self._found = _survey(self._places)
        if self._fresh or self._found is None:
            return None
        known = file_cache.load(self._file, _decode, self._stamp)
        if known is None:
            return None
        scripts = _survey([place for place in known.directories if place not in self._found])
        if scripts is None or known.directories != {**self._found, **scripts}:
            return None
        self.known = known.directories
        for directory, objections in known.objections.items():
            permit.recall(directory, known.directories[directory], objections)
        return known.handlers

    def remember(self, handlers: Sequence[Handler], permit: Permit, also: Sequence[Path] = ()) -> None:
        """`also` are directories besides those of hooks that the answer depends on."""
        # What a link leads to is not looked through.
        if self._found is None or any(one.status is HandlerStatus.BROKEN or _linked(one) for one in handlers):
            return
        scripts, besides = _survey(self._scripts(handlers)), _survey(map(str, also))
        if scripts is None or besides is None:
            return
        objections = {
            place: dict(permit.objections(place))
            for place, files in {**self._found, **scripts}.items()
            if files and ITSELF not in files and place.startswith(self._own) and place not in self._others
        }
        # Files that changed while they were looked through are looked through again next time.
        if self._found != _survey(self._places):
            return
        known = _CachedIndex({**self._found, **scripts, **besides}, objections, list(handlers))
        self.known = known.directories
        file_cache.save(self._file, known, msgspec.msgpack.encode, self._stamp)

    def _scripts(self, handlers: Sequence[Handler]) -> list[str]:
        """Where the scripts of YAML hooks lie; of one in the project's root, the script itself."""
        places = set()
        for path in {path for handler in handlers for path in handler.runs}:
            directory = os.path.dirname(path)
            places.add(path if f"{directory}/" == self._own else directory)
        return sorted(places)


def _survey(places: Iterable[str]) -> dict[str, dict[str, Signature]] | None:
    try:
        return {place: survey_place(place) for place in places}
    except (OSError, TooManyFiles):
        return None


def _linked(handler: Handler) -> bool:
    return handler.package is not None and handler.package.linked
