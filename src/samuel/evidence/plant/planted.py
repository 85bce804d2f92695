"""The records of a planted failure: a runner's call, what is written over a tree, and one run of the command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

FileReader = Callable[[str], bytes]  # the content of a file of a tree by its path; b"" if it is missing
PlantKind = Literal["added test", "new file", "changed expectation", "canary"]

MAX_BYTES = 1 << 18  # of a file that is read or changed
_LETTERS = "abcdefgh"
_TOKEN = re.compile(r"[a-z][a-z0-9]{9,31}")


class CalledRunner(NamedTuple):
    """A test runner that a check command starts, directly or through make, npm and the like."""

    name: str
    """`pytest`, `unittest`, `jest`, `node-test`, `cargo`, `go-test`, `maven`, ...; "" if it is not a known one."""
    arguments: tuple[str, ...] = ()
    directory: str = ""
    """The directory below the project that it runs in; "" is the root."""


class PlantRun(NamedTuple):
    """One run of the check command."""

    passed: bool
    """By the exit code alone."""
    tests: Mapping[str, str] | None = None
    """By id `passed`, `failed` or `skipped`; None if no report was written."""
    output: str = ""
    """What it printed, or the end of that."""
    is_complete: bool = True
    """Whether `output` is all that it printed."""


@dataclass(frozen=True)
class Plant:
    """A failure that was planted for one runner.

    The files must get the time of now when they are written: make and cargo build by times.
    """

    call: CalledRunner
    kind: PlantKind
    token: str
    """A part of the name of every planted test, in lower case; "" if a test of the project was changed."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What to write over the attempt's tree."""
    control_files: Mapping[str, bytes] = field(default_factory=dict)
    """The same over the verified tree: there the failure must be seen before an attempt is accused."""
    sibling: str = ""
    """The test file of the verified tree that was changed, or that the new file is written beside."""
    markers: tuple[str, ...] = ()
    """For each planted test a text that no planted file contains, so that only a test that ran can print it."""
    test_name: str = ""
    """The test whose expectation was changed; "" if it is not known."""
    parts: tuple[Plant, ...] = ()
    """Of several planted tests each one alone: with `--bail` only the first of them is seen."""
    command: str = ""
    """For a canary: the person's own command that plants the failure in the room."""

    def is_planted(self, test_id: str) -> bool:
        """Whether a test of a report is the planted one, or, for a changed expectation, the changed one."""
        if self.token:
            return self.token in test_id.lower()
        return bool(self.test_name) and self.test_name in test_id


def checked_token(token: str) -> str:
    """The token, which is part of file names and identifiers in many languages; ValueError if it is not fit."""
    if not _TOKEN.fullmatch(token):
        raise ValueError("the token of a plant has 10 to 32 lower case letters and digits, and a letter first")
    return token


def marker_parts(token: str, number: int) -> tuple[str, str]:
    """The two texts that the planted test with this number joins with a hyphen when it runs."""
    middle = len(token) // 2
    return token[:middle], token[middle:] + _LETTERS[number]


def numbered(statements: Iterable[str], only: int | None) -> list[tuple[int, str]]:
    """The statements with their numbers, or that one alone."""
    return [(number, text) for number, text in enumerate(statements) if only in (None, number)]


def markers_in(text: str, token: str) -> tuple[str, ...]:
    """What the planted tests of a text print: not the token, which a compiler prints with the name of a test."""
    parts = (marker_parts(token, number) for number in range(len(_LETTERS)))
    return tuple(f"{first}-{second}" for first, second in parts if second in text)


def text_of(content: bytes) -> str | None:
    """The text of a test file, with plain line ends; None if it is missing, too large or not such a text."""
    if not content or len(content) > MAX_BYTES:
        return None
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    return None if "\r" in text or "\0" in text else text


def content_of(text: str, original: bytes) -> bytes:
    """The bytes of a changed text, with the line ends of the original."""
    return (text.replace("\n", "\r\n") if b"\r\n" in original else text).encode("utf-8")
