"""What is wrong with the directories in which sockets may be, and what to do about it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from samuel.base.printable import shell_word
from samuel.emit.serve.socket_name import ENDING, candidates, is_private
from samuel.emit.serve.start import is_served
from samuel.process.emit_client import LONGEST_SOCKET_PATH

OWN_DIRECTORY = "set `XDG_RUNTIME_DIR` to a directory that only you can enter"


class PlaceProblem(NamedTuple):
    what: str
    hint: str
    harmless: bool = False
    """A server can be reached all the same."""


def usable_directory(environment: Mapping[bytes, bytes], root: str) -> str:
    """The directory of the sockets, which the first server may have to make; "" if there can be none."""
    places = candidates(environment, root)
    return next((place for place in places if is_private(place) or _can_be_made(place)), "")


def place_problems(environment: Mapping[bytes, bytes], root: str) -> Iterator[PlaceProblem]:
    """Why there may be no server, or not in the usual place. Changes nothing."""
    places = list(candidates(environment, root))
    chosen = usable_directory(environment, root)
    own = os.fsdecode(environment.get(b"XDG_RUNTIME_DIR", b""))
    if own.startswith("/") and f"{own}/samuel" not in places:
        too_long = f"makes a path of over {LONGEST_SOCKET_PATH} bytes"
        what = f"`XDG_RUNTIME_DIR` is in the project, is missing, or {too_long}"
        yield PlaceProblem(f"{what}; servers listen in `{chosen}`" if chosen else what, "", bool(chosen))
    for place in places:
        if os.path.lexists(place) and not is_private(place):
            yield PlaceProblem(*_objection(place))
    if not chosen:
        yield PlaceProblem(
            "no directory for sockets belongs to you alone, so there can be no server", OWN_DIRECTORY
        )
    elif abandoned := _abandoned(chosen):
        what = f"`{chosen}` has sockets of servers that are gone, as after a crash: {len(abandoned)}"
        yield PlaceProblem(
            what, f"remove them: `rm {shell_word(chosen)}/*{ENDING}*` while no server is running", harmless=True
        )


def _objection(place: str) -> tuple[str, str]:
    """Why a directory is not used, and what to do."""
    status = os.lstat(place)
    if status.st_uid != os.getuid():
        what = f"`{place}` belongs to another user, and is not used"
        return what, f"have it removed, or {OWN_DIRECTORY}"
    if not stat.S_ISDIR(status.st_mode):
        return f"`{place}` is not a directory, and is not used", f"remove it: `rm {shell_word(place)}`"
    return f"`{place}` can be entered by others, and is not used", f"`chmod 700 {shell_word(place)}`"


def _can_be_made(place: str) -> bool:
    above = os.path.dirname(place)
    return not os.path.lexists(place) and os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK)


def _abandoned(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [name for name in names if name.endswith(ENDING) and not is_served(f"{directory}/{name}")]
