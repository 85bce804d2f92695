"""A file that belongs to Samuel as a whole: a plugin or a script in a directory where a client looks for them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from samuel.clients.entries.hook_command import EmitCommand
from samuel.clients.entries.layout import BrokenFile

# The seal is a digest of the rest, so that a file that was changed is never replaced or removed.
_SEAL = re.compile(r"^(?://|#) written by `samuel bridge add`, sha256 (?P<digest>[0-9a-f]{16})$\n?", re.MULTILINE)


@dataclass(frozen=True)
class OwnFile:
    """`body` renders the text. The line with the seal comes first, or after `#!`."""

    body: Callable[[EmitCommand], str]
    comment: str
    file_events: Sequence[str]
    executable: bool = False
    byte_order_mark: bool = False

    def added(self, text: str | None, command: EmitCommand) -> str:
        if text is not None:
            self.removed(text)  # only ours is replaced
        return self._sealed(self.body(command))

    def removed(self, text: str) -> str | None:
        seal = _SEAL.search(text)
        if seal is None:
            raise BrokenFile("another program's file is in this place", hint="move it, or merge the two by hand")
        if _digest(_SEAL.sub("", text, count=1)) != seal["digest"]:
            raise BrokenFile("the file that samuel wrote was changed since", hint="remove it by hand")
        return None

    def events(self, text: str) -> Sequence[str]:
        return self.file_events if _SEAL.search(text) else ()

    def _sealed(self, body: str) -> str:
        seal = f"{self.comment} written by `samuel bridge add`, sha256 {_digest(body)}\n"
        if not body.startswith("#!"):
            return seal + body
        interpreter, rest = body.split("\n", 1)
        return f"{interpreter}\n{seal}{rest}"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]
