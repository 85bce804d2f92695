"""Suites for readers of shell text: whether every text has a reading, and whether the programs in it are found.

`python benchmarks/guards CLONES --readings` prints them. A text that cannot be read must be opaque: a reading
without commands and without a doubt is right only for a text that runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cases import SCRIPT_TEXT, script_text
from clone import Clone

from samuel.shell import commands


class ReadText(NamedTuple):
    text: str
    programs: tuple[str, ...] = ()
    """Those that the suite expects."""


def parable(clone: Clone) -> Iterator[ReadText]:
    for _, text in clone.texts("tests", ".tests"):
        for part in re.split(r"(?m)^=== .*\n", text)[1:]:
            yield ReadText(part.partition("\n---")[0])


_ROOTS = re.compile(
    rf"getCommandRoots\(\s*({SCRIPT_TEXT.pattern}),?\s*\)(?:\)|;\s*expect\(\w+\))\.toEqual\(\[(.*?)\]\)", re.DOTALL
)


def shell_utils(clone: Clone) -> Iterator[ReadText]:
    """The programs that gemini-cli finds. Texts with none are its own refusals."""
    for text, roots in _ROOTS.findall(clone.text("packages/core/src/utils/shell-utils.test.ts")):
        programs = tuple(script_text(root) for root in SCRIPT_TEXT.findall(roots))
        if programs:
            yield ReadText(script_text(text), programs)


SUITES = {"Parable": parable, "gemini-cli": shell_utils}


def print_readings(clones: Path) -> None:
    print("| suite | commit | texts | without a reading | opaque | programs found |")
    print("|---|---|---|---|---|---|")
    for name, read in SUITES.items():
        if (clones / name).exists():
            clone = Clone(clones / name)
            print(f"| {name} | {clone.version()} | {' | '.join(map(str, counts(read(clone))))} |")


def counts(texts: Iterator[ReadText]) -> tuple[int, int, int, str]:
    count = empty = opaque = expected = present = 0
    for item in texts:
        count += 1
        reading = commands(item.text)  # a text that makes it fail ends the run
        opaque += bool(reading.opaque)
        empty += not (reading.commands or reading.opaque or reading.assignments) and runs_something(item.text)
        programs = {command.words[0] for command in reading.commands if command.words}
        expected += len(item.programs)
        present += sum(program in programs for program in item.programs)
    return count, empty, opaque, f"{present} of {expected}" if expected else "-"


_BLANK = re.compile(
    r"\s*(?:#.*|[;&]|\(\(.*\)\)|(?:! )?\[\[.*\]\]|\[.*\]|>&\d+|\w+\(\)\(\(.*\)\)"
    r"|case \S+ in(?:\s+\S+\)\s*;;)*\s*esac)?\s*(?:\n\s*(?:#.*)?)*",
    re.DOTALL,
)


def runs_something(text: str) -> bool:
    """Whether a text has more in it than comments, tests and arithmetic."""
    return not _BLANK.fullmatch(text)
