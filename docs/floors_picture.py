"""Draws docs/floors.svg: the rooms of the package on their floors, from the import contract in pyproject.toml.

python docs/floors_picture.py            draw it again
python docs/floors_picture.py --check    fail if the picture is not that of the contract
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "floors.svg"

WIDTH = 860
MARGIN, GAP, BOX, TEXT = 16, 8, 28, 8.1
FILLS = ("#e8f0fe", "#e6f4ea", "#fef7e0", "#fce8e6", "#f1f3f4")


class Floor(NamedTuple):
    name: str
    purpose: str
    rooms: tuple[str, ...]


def floors() -> list[Floor]:
    """The floors of the contract, the highest first: a comment begins each."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = text.partition("layers = [\n")[2].partition("\n]")[0]
    drawn_floors: list[Floor] = []
    for line in layers.splitlines():
        if comment := re.fullmatch(r"\s*# (\w+): (.*)", line):
            drawn_floors.append(Floor(comment[1], comment[2], ()))
        else:
            floor = drawn_floors[-1]
            drawn_floors[-1] = floor._replace(rooms=floor.rooms + tuple(re.findall(r"samuel\.(\w+)", line)))
    return drawn_floors


def rows(rooms: tuple[str, ...]) -> list[list[tuple[str, float, float]]]:
    """Rooms as boxes with their left edge and width, in as many rows as they need."""
    lines: list[list[tuple[str, float, float]]] = [[]]
    left = 2.0 * MARGIN
    for room in rooms:
        width = len(room) * TEXT + 18
        if left + width > WIDTH - 2 * MARGIN:
            lines.append([])
            left = 2.0 * MARGIN
        lines[-1].append((room, left, width))
        left += width + GAP
    return lines


def box(room: str, left: float, top: float, width: float) -> tuple[str, str]:
    shape = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{BOX}" rx="4"'
    text = f'x="{left + width / 2:g}" y="{top + 19:g}" text-anchor="middle" class="room"'
    return f'<rect {shape} fill="#fff" stroke="#9aa0a6"/>', f"<text {text}>{room}</text>"


def drawn() -> str:
    parts: list[str] = []
    top = float(MARGIN)
    for floor, fill in zip(floors(), FILLS, strict=True):
        lines = rows(floor.rooms)
        height = 30 + len(lines) * (BOX + GAP) + 4
        parts.append(
            f'<rect x="{MARGIN}" y="{top:g}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="6" fill="{fill}"/>'
        )
        heading = f"<tspan font-weight='bold'>{floor.name}</tspan>: {html.escape(floor.purpose)}"
        parts.append(f'<text x="{2 * MARGIN}" y="{top + 21:g}">{heading}</text>')
        for number, line in enumerate(lines):
            y = top + 32 + number * (BOX + GAP)
            parts += [part for room, left, width in line for part in box(room, left, y, width)]
        top += height + GAP
    body = "\n".join(parts)
    return f"""\
<svg viewBox="0 0 {WIDTH} {top + MARGIN - GAP:g}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>The rooms of the package on their five floors. A room imports only from rooms after it.</title>
<style>
text {{ font: 14px sans-serif; fill: #202124; }}
.room {{ font: 13px ui-monospace, Menlo, Consolas, monospace; }}
</style>
<rect width="100%" height="100%" fill="#fff"/>
{body}
</svg>
"""


def main() -> int:
    picture = drawn()
    if sys.argv[1:] != ["--check"]:
        PICTURE.write_text(picture, encoding="utf-8")
        return 0
    if PICTURE.read_text(encoding="utf-8") == picture:
        return 0
    print("docs/floors.svg is not that of the import contract; draw it again: python docs/floors_picture.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
