"""What a PRD says besides its tasks: why, goals, limits. It is the background of every task."""

from __future__ import annotations

import re
from collections.abc import Sequence

from samuel.tasks.entries import TaskEntry
from samuel.tasks.outline import OutlineHeading, PrdOutline, metadata_length

_EMPTY_LINES = re.compile(r"\n{3,}")


def prose(outline: PrdOutline, entries: Sequence[TaskEntry]) -> str:
    """The text outside of these tasks, without comments and without headings that have no text left below."""
    left_out = set(range(1, metadata_length(outline.lines) + 1)) | outline.comment_lines
    for entry in entries:
        left_out.update(range(entry.line, entry.end + 1))
    headings = {node.line: node for node in outline.nodes if isinstance(node, OutlineHeading) and not node.parent}
    left_out.update(line for node in headings.values() for line in range(node.line + 1, node.below))
    lines: list[str] = []  # the last one first
    has_text = [False] * 7  # by level: is there text between here and the next heading of that level?
    for number in range(len(outline.lines), 0, -1):
        if number in left_out:
            continue
        line = outline.lines[number - 1].rstrip()
        heading = headings.get(number)
        if heading is None:
            has_text = [True] * 7 if line else has_text
            lines.append(line)
            continue
        if has_text[heading.level]:
            lines.append(f"{'#' * heading.level} {heading.text}")
        has_text[heading.level :] = [False] * (7 - heading.level)
    return _EMPTY_LINES.sub("\n\n", "\n".join(reversed(lines))).strip("\n")
