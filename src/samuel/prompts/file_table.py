"""Every file of a project with its facts, by column: a hundred thousand rows load in milliseconds, and a question
about one column touches nothing else.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter

import msgspec

from samuel.base.decoding import decode_msgpack
from samuel.prompts.file_facts import FileFacts
from samuel.prompts.languages import LANGUAGES, NEITHER, OTHER, SOURCE, TEST, describe

NAMES = (OTHER, *sorted(set(LANGUAGES.values())))
NUMBERS = {name: number for number, name in enumerate(NAMES)}
GONE = 255  # where a language's number would be
NO_TEXT = -1  # where a size would be, or a number of lines


class FileTable:
    def __init__(self) -> None:
        self.paths: list[bytes] = []
        self.languages = bytearray()
        self.roles = bytearray()
        self.depths = bytearray()
        self.sizes = array("q")
        self.lines = array("q")
        self.subjects: list[bytes] = []
        self.marks: dict[int, tuple[int, int, int]] = {}
        """Few files have any."""

    def add(self, path: bytes, facts: FileFacts) -> None:
        language, role, subject = describe(path)
        size, text, lines, todo, fixme, hack, tests_inside = facts
        if todo or fixme or hack:
            self.marks[len(self.paths)] = (todo, fixme, hack)
        self.paths.append(path)
        self.languages.append(NUMBERS[language])
        self.roles.append(NEITHER if tests_inside else role)
        self.depths.append(min(path.count(b"/"), GONE - 1))
        self.sizes.append(size if text else NO_TEXT)
        self.lines.append(NO_TEXT if lines is None else lines)
        self.subjects.append(subject)

    def copy(self, other: FileTable, row: int) -> None:
        """Add a row of another table as it is."""
        if row in other.marks:
            self.marks[len(self.paths)] = other.marks[row]
        self.paths.append(other.paths[row])
        self.languages.append(other.languages[row])
        self.roles.append(other.roles[row])
        self.depths.append(other.depths[row])
        self.sizes.append(other.sizes[row])
        self.lines.append(other.lines[row])
        self.subjects.append(other.subjects[row])

    def set(self, row: int, facts: FileFacts) -> None:
        """Give a row what its file holds now. What follows from its path stays, but for tests that are inside."""
        self.sizes[row] = facts.size if facts.text else NO_TEXT
        self.lines[row] = NO_TEXT if facts.lines is None else facts.lines
        self.roles[row] = NEITHER if facts.tests_inside else describe(self.paths[row]).role
        self.marks.pop(row, None)
        if facts.todo or facts.fixme or facts.hack:
            self.marks[row] = (facts.todo, facts.fixme, facts.hack)

    def remove(self, row: int) -> None:
        """The row stays, and answers to nothing."""
        self.paths[row] = b""
        self.languages[row] = self.depths[row] = GONE
        self.roles[row] = NEITHER
        self.sizes[row] = self.lines[row] = NO_TEXT
        self.marks.pop(row, None)

    def rows(self) -> dict[bytes, int]:
        return dict(zip(self.paths, range(len(self.paths)), strict=True))

    def by_language(self) -> list[tuple[str, int, int]]:
        """Name, files and lines, most lines first."""
        files = Counter(self.languages)
        lines: dict[int, int] = dict.fromkeys(files, 0)
        for number, count in zip(self.languages, self.lines, strict=True):
            if count > 0:
                lines[number] += count
        languages = [(NAMES[number], files[number], lines[number]) for number in files if number != GONE]
        return sorted(languages, key=lambda row: (-row[2], row[0]))

    def largest(self, most: int) -> list[tuple[bytes, int, int | None]]:
        """Text files: path, size, and lines where they were counted."""
        rows = self._most([row for row, size in enumerate(self.sizes) if size >= 0], self.sizes, most)
        lines = self.lines
        return [(self.paths[row], self.sizes[row], lines[row] if lines[row] >= 0 else None) for row in rows]

    def marked(self) -> list[tuple[bytes, int, int, int]]:
        """Path, and lines with TODO, FIXME and HACK; the most first."""
        rows = sorted(self.marks, key=lambda row: (-sum(self.marks[row]), self.paths[row]))
        return [(self.paths[row], *self.marks[row]) for row in rows]

    def gaps(self, most: int) -> tuple[list[bytes], int]:
        """Sources that no test is named after, most lines first, and how many there are. Empty files need none."""
        tested = {subject for role, subject in zip(self.roles, self.subjects, strict=True) if role == TEST}
        rows = [
            row
            for row, (role, subject, lines) in enumerate(zip(self.roles, self.subjects, self.lines, strict=True))
            if role == SOURCE and lines and subject not in tested
        ]
        return [self.paths[row] for row in self._most(rows, self.lines, most)], len(rows)

    def shallowest(self, most: int) -> list[bytes]:
        """From the top of the tree down."""
        paths: list[bytes] = []
        for depth in sorted(set(self.depths) - {GONE}):
            row = self.depths.find(depth)
            while row >= 0 and len(paths) < most:
                paths.append(self.paths[row])
                row = self.depths.find(depth, row + 1)
        return paths

    def _most(self, rows: list[int], column: array[int], most: int) -> list[int]:
        """The rows with the highest numbers, ties by path. Sorts only those that can be among them."""
        highest = heapq.nlargest(most, [column[row] for row in rows])
        rows = [row for row in rows if column[row] >= highest[-1]]
        return sorted(rows, key=lambda row: (-column[row], self.paths[row]))[:most]


class _Stored(msgspec.Struct, array_like=True):
    paths: bytes
    languages: bytes
    roles: bytes
    depths: bytes
    sizes: bytes
    lines: bytes
    subjects: bytes
    marks: dict[int, tuple[int, int, int]]


def encode(table: FileTable) -> bytes:
    # No path has a NUL in it, so they can be joined by it.
    return msgspec.msgpack.encode(
        _Stored(
            b"\0".join(table.paths),
            bytes(table.languages),
            bytes(table.roles),
            bytes(table.depths),
            table.sizes.tobytes(),
            table.lines.tobytes(),
            b"\0".join(table.subjects),
            table.marks,
        )
    )


def decode(data: bytes) -> FileTable:
    stored = decode_msgpack(data, _Stored)
    table = FileTable()
    if stored.languages:
        table.paths = stored.paths.split(b"\0")
        table.subjects = stored.subjects.split(b"\0")
    table.languages = bytearray(stored.languages)
    table.roles = bytearray(stored.roles)
    table.depths = bytearray(stored.depths)
    table.sizes.frombytes(stored.sizes)
    table.lines.frombytes(stored.lines)
    table.marks = stored.marks
    return table
