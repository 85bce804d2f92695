"""Finds the file and line that a build failed at, in the formats that compilers and test runners print.

src/login.ts(58,12): error TS2322: …        src/login.ts:58:12 - error …
File "billing/tax.py", line 7, in rate      --> src/main.rs:3:5
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.shipped.event_fields import one_line

# Only from the beginning of a word, so that no line takes quadratic time.
_PATH = r"(?<![\w./@+-])(?P<path>[\w./@+-]+\.\w+)"
_FORMATS = (  # the first is Python's, of tracebacks
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)'),
    re.compile(rf"{_PATH}\((?P<line>\d+)(?:[,:]\d+)?\)"),
    re.compile(rf"{_PATH}:(?P<line>\d+)\b(?::\d+\b)?"),
)
_ERROR_WORD = re.compile(r"error|fail|exception|assert|fatal|panic", re.IGNORECASE)
MAX_LINE = 500  # characters of one line that are searched
MAX_LINES = 20_000
MAX_TRACEBACK = 200  # lines of a traceback that are searched for its end


class FailingLine(NamedTuple):
    path: str
    """Relative to the project's root."""
    line: int
    message: str = ""
    """What the output says about it."""


def failing_place(output: str, root: Path, directory: str, changed: Sequence[str] = ()) -> FailingLine | None:
    """The most likely cause: a place in a file that was changed, on a line with a word like "error".

    `directory` is where the build ran. Of equals the first; of a traceback the last, which is the innermost.
    """
    best: tuple[tuple[bool, bool], FailingLine] | None = None
    for place, has_error_word, in_traceback in _places(output, root, directory):
        rank = (place.path in changed, has_error_word)
        if best is None or rank > best[0] or (in_traceback and rank == best[0]):
            best = (rank, place)
    return best[1] if best else None


def _places(output: str, root: Path, directory: str) -> Iterator[tuple[FailingLine, bool, bool]]:
    """Every place in the output that is a file of the project; has it an error word; is it of a traceback."""
    inner_paths: dict[str, str] = {}
    lines = output.splitlines()[-MAX_LINES:]
    for number, text in enumerate(lines):
        for format_number, pattern in enumerate(_FORMATS):
            if (match := pattern.search(text[:MAX_LINE])) is None:
                continue
            name = match["path"]
            if name not in inner_paths:
                inner_paths[name] = _inside(name, root, directory)
            if inner_paths[name]:
                in_traceback = format_number == 0
                rest = text[match.end() :].strip(" :-,)")
                message = _raised(lines[number + 1 : number + MAX_TRACEBACK]) if in_traceback else rest
                yield (
                    FailingLine(inner_paths[name], int(match["line"][:9]), one_line(message, 200)),
                    bool(_ERROR_WORD.search(text)),
                    in_traceback,
                )
                break


def _raised(lines: Sequence[str]) -> str:
    """The end of a traceback: its first line that is not indented."""
    return next((line for line in lines if line and not line[0].isspace()), "")


def _inside(name: str, root: Path, directory: str) -> str:
    """The file, relative to the project's root; "" if there is none, or it is outside the project."""
    for base in (root / directory, root):
        path = os.path.normpath(base / name)
        if path.startswith(f"{root}{os.sep}") and os.path.isfile(path):
            return os.path.relpath(path, root)
    return ""
