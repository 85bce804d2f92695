"""From the output of a build to the file and line that it failed at: what compilers and test runners print.

src/login.ts(58,12): error TS2322: …        src/login.ts:58:12 - error …
File "billing/tax.py", line 7, in rate      --> src/main.rs:3:5
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.shipped.event_fields import line

# From the beginning of a word: no line can make it slow.
_PATH = r"(?<![\w./@+-])(?P<path>[\w./@+-]+\.\w+)"
_PRINTED = (
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)'),
    re.compile(rf"{_PATH}\((?P<line>\d+)(?:[,:]\d+)?\)"),
    re.compile(rf"{_PATH}:(?P<line>\d+)\b(?::\d+\b)?"),
)
_WRONG = re.compile(r"error|fail|exception|assert|fatal|panic", re.IGNORECASE)
LONGEST = 500  # characters of one line that are looked at
MOST = 20_000  # lines
DEEPEST = 200  # lines of a traceback that are looked at for its end


class FailingLine(NamedTuple):
    path: str
    """From the project's root."""
    line: int
    said: str = ""
    """What the output says of it."""


def failing_place(output: str, root: Path, directory: str, changed: Sequence[str] = ()) -> FailingLine | None:
    """The place that says most: where something is called an error, in a file that was changed, and that is there.

    `directory` is where the build ran. Of equals the first; of a traceback the last, which is the innermost.
    """
    best: tuple[tuple[bool, bool], FailingLine] | None = None
    for place, wrong, inner in _places(output, root, directory):
        worth = (place.path in changed, wrong)
        if best is None or worth > best[0] or (inner and worth == best[0]):
            best = (worth, place)
    return best[1] if best else None


def _places(output: str, root: Path, directory: str) -> Iterator[tuple[FailingLine, bool, bool]]:
    known: dict[str, str] = {}
    lines = output.splitlines()[-MOST:]
    for number, said in enumerate(lines):
        for at, printed in enumerate(_PRINTED):
            if (found := printed.search(said[:LONGEST])) is None:
                continue
            name = found["path"]
            if name not in known:
                known[name] = _inside(name, root, directory)
            if known[name]:
                inner = at == 0
                rest = said[found.end() :].strip(" :-,)")
                what = _raised(lines[number + 1 : number + DEEPEST]) if inner else rest
                yield (
                    FailingLine(known[name], int(found["line"][:9]), line(what, 200)),
                    bool(_WRONG.search(said)),
                    inner,
                )
                break


def _raised(after: Sequence[str]) -> str:
    """The end of a traceback: its first line that is not indented."""
    return next((one for one in after if one and not one[0].isspace()), "")


def _inside(name: str, root: Path, directory: str) -> str:
    """The file from the project's root; "" if there is none, or it is elsewhere."""
    for base in (root / directory, root):
        path = os.path.normpath(base / name)
        if path.startswith(f"{root}{os.sep}") and os.path.isfile(path):
            return os.path.relpath(path, root)
    return ""
