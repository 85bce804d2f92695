"""What a person can do about an attempt that was refused because it changed tests, although its task means to."""

from __future__ import annotations

import re
from typing import NamedTuple

from samuel.base.printable import shell_word
from samuel.checks.refusal_texts import CONTESTED, PROTECTED


class WayOut(NamedTuple):
    own_files: str
    """How to let the task change these files."""
    try_again: str
    """The commands after that."""
    take_it: tuple[str, str]
    """The commands that take the attempt as it is, in their order."""


def way_out(task_id: str, why: str) -> WayOut | None:
    """The way out of a refused change, by why the attempt failed; None if that is not why."""
    head = why.partition("\n")[0]
    _, refused, rest = head.partition(CONTESTED)
    if not refused:
        _, refused, rest = head.partition(PROTECTED)
    if not refused:
        return None
    files = ", ".join(re.findall(r"`([^`]+)`", rest.partition(";")[0])) or "FILE"
    word = shell_word(task_id)
    return WayOut(
        f"if the task is meant to change them, add the line `Files: {files}` below it in the PRD",
        f"then run `samuel run sync` and `samuel run reset {word}`",
        (f"samuel run restore {word}", f"samuel run done {word}"),
    )


def way_out_lines(task_id: str, why: str) -> list[str]:
    """The way out in lines for a terminal; [] if the attempt failed for another reason."""
    way = way_out(task_id, why)
    if way is None:
        return []
    restore, done = way.take_it
    return [f"{way.own_files}, {way.try_again}", f"to take the attempt as it is: `{restore}`, then `{done}`"]
