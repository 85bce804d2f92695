"""The `test "..." { }` blocks of a Zig file and the `unittest { }` blocks of a D file.

Both are blocks in braces that nothing else refers to, so they can be cut out and put in without a parser, once
comments and strings are out of the way.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from samuel.evidence.lexing import family_of, masked

_BEGIN = {
    "zig": re.compile(r'^[ \t]*+test\b[ \t]*+(?:"[^"\n]*+"|@"[^"\n]*+"|[A-Za-z_]\w*+)?\s*+\{', re.MULTILINE),
    "d": re.compile(
        r"^[ \t]*+(?:(?:@\w++(?:\([^()\n]*+\))?|pure|nothrow|private|version\s*+\(\s*+unittest\s*+\))\s++)*+"
        r"unittest\s*+\{",
        re.MULTILINE,
    ),
}
BLOCK_FAMILIES = frozenset(_BEGIN)


class _Block(NamedTuple):
    start: int
    end: int
    depth: int
    """Braces around it: 0 for a block of the file itself."""
    text: str


def blocks_with_tests(path: str, code: str, tests: str) -> str | None:
    """The file `code` with the blocks of the file `tests`; None without any, or if one is not understood.

    Blocks are put at the end of the file, except those of D inside of a type: these are left where they are if
    both versions have the same, else the file is not understood.
    """
    family = family_of(path) or ""
    code_blocks, test_blocks = _blocks(code, family), _blocks(tests, family)
    if code_blocks is None or test_blocks is None or not (code_blocks or test_blocks):
        return None
    if [block.text for block in code_blocks] == [block.text for block in test_blocks]:
        return code
    inner = [[block.text for block in blocks if block.depth] for blocks in (code_blocks, test_blocks)]
    if inner[0] != inner[1]:
        return None
    parts: list[str] = []
    position = 0
    for block in code_blocks:
        if not block.depth:
            parts.append(code[position : block.start])
            position = block.end
    rest = "".join((*parts, code[position:])).rstrip()
    return (
        "\n\n".join(part for part in (rest, *(block.text for block in test_blocks if not block.depth)) if part)
        + "\n"
    )


def _blocks(text: str, family: str) -> list[_Block] | None:
    plain = masked(text, family) if family in _BEGIN else None
    if plain is None:
        return None
    depths = _depths(plain)
    if depths is None:
        return None
    ends, around = depths
    blocks: list[_Block] = []
    position = 0
    for begin in _BEGIN[family].finditer(plain):
        if begin.start() < position:
            continue  # within a block
        brace = begin.end() - 1
        position = ends[brace]
        start = begin.start()
        blocks.append(_Block(start, position, around[brace], text[start:position].strip("\n")))
    return blocks


def _depths(plain: str) -> tuple[dict[int, int], dict[int, int]] | None:
    """For each opening brace the end of its block, and how many are around it; None if they do not match."""
    ends: dict[int, int] = {}
    around: dict[int, int] = {}
    opened: list[int] = []
    for brace in re.finditer(r"[{}]", plain):
        if brace[0] == "{":
            around[brace.start()] = len(opened)
            opened.append(brace.start())
        elif opened:
            ends[opened.pop()] = brace.end()
        else:
            return None
    return None if opened else (ends, around)
