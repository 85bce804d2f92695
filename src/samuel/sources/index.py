"""What the directories of hooks and plugins held when they were last looked through.

As long as every file in them is the same, and the same is agreed to, the answer is the same: then nothing is read,
hashed or asked again. A hook with a problem is looked at each time, since the problem may be gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from samuel.files import atomic
from samuel.hooks.handler import Handler, Status
from samuel.trust.content import Signature, TooMuch, survey
from samuel.trust.permit import Permit
from samuel.version import __version__


class _Remembered(msgspec.Struct, array_like=True):
    stamp: str
    directories: dict[str, dict[str, Signature]]
    objections: dict[str, dict[str, str]]
    handlers: list[Handler]


_decoder = msgspec.msgpack.Decoder(_Remembered)


class Index:
    def __init__(
        self, file: Path, hooks: Sequence[Path], plugins: Sequence[Path], own: Path, agreed: str
    ) -> None:
        """`own` is the project: what lies below it needs a permit.

        `agreed` changes when the agreements do, or anything else that the answer depends on.
        """
        self._file = file
        self._hooks = {str(directory) for directory in hooks}
        self._places = [*map(str, hooks), *map(str, plugins)]
        self._own = f"{own}/"
        self._stamp = f"{__version__} {agreed}"
        self._found: dict[str, dict[str, Signature]] | None = None

    def recall(self, permit: Permit) -> list[Handler] | None:
        """The handlers, if everything is as it was; the permit is told what it said of them."""
        self._found = self._survey()
        try:
            known = _decoder.decode(self._file.read_bytes())
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return None
        if self._found is None or known.stamp != self._stamp or known.directories != self._found:
            return None
        for directory, objections in known.objections.items():
            permit.recall(directory, self._found[directory], objections)
        return known.handlers

    def remember(self, handlers: Sequence[Handler], permit: Permit) -> None:
        # What a link leads to is not looked through.
        if self._found is None or any(one.status is Status.BROKEN or _linked(one) for one in handlers):
            return
        objections = {
            place: dict(permit.objections(place))
            for place, files in self._found.items()
            if files and place.startswith(self._own) and place in self._hooks
        }
        # Files that changed while they were looked through are looked through again next time.
        if self._found != self._survey():
            return
        known = _Remembered(self._stamp, self._found, objections, list(handlers))
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic.write_bytes(self._file, msgspec.msgpack.encode(known), 0o600, durable=False)
        except (OSError, UnicodeEncodeError):
            pass  # only a cache; and a name that is not UTF-8 cannot be written into it

    def _survey(self) -> dict[str, dict[str, Signature]] | None:
        found = {}
        for place in self._places:
            try:
                found[place] = survey(place)
            except (FileNotFoundError, NotADirectoryError):
                found[place] = {}
            except (OSError, TooMuch):
                return None
        return found


def _linked(handler: Handler) -> bool:
    return handler.package is not None and handler.package.linked
