"""The background of all tasks: what the PRD says besides them, saved by `run init` for the prompts of a run.

prd-context.md has the path of the PRD in its first line, then an empty line, then the text.
"""

from __future__ import annotations

import re
from pathlib import Path

from samuel.errors import SamuelError
from samuel.files import atomic
from samuel.files.inside import is_inside, read_inside
from samuel.printable import safe

FILE = "prd-context.md"
MOST_SAVED = 256 * 1024
"""Bytes; a prompt takes far less."""

_HEADING = re.compile(r"#{1,6}(?=\s)")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")


def save(state: Path, root: Path, prd: Path, text: str) -> None:
    """Save the text of a PRD for the prompts; without any, a text that was saved before is removed."""
    prd = prd.resolve()
    root = root.resolve()
    path = str(prd.relative_to(root)) if is_inside(prd, root) else str(prd)
    if text.strip():
        atomic.write_text(state / FILE, f"{safe(path, keep='')}\n\n{_cut(text, MOST_SAVED)}\n")
    else:
        (state / FILE).unlink(missing_ok=True)


def background(state: Path, budget: int) -> str:
    """The text for a prompt, at most `budget` bytes of it, with where the whole is; "" if there is none."""
    try:
        content = read_inside(state, FILE, limit=2 * MOST_SAVED).decode("utf-8", "replace")
    except (OSError, SamuelError):  # an agent may have written there: no background is better than no prompt
        return ""
    path, _, text = content.partition("\n")
    text = _below_the_prompts_headings(text.strip("\n"))
    whole = f"From `{path}`:\n\n"
    if len((whole + text).encode()) <= budget:
        return f"{whole}{text}" if text else ""
    beginning = f"The beginning of `{path}`; read the file for the rest:\n\n"
    return f"{beginning}{_cut(text, budget - len(beginning.encode()))}"


def _cut(text: str, budget: int) -> str:
    """The beginning of a text, up to the end of a paragraph if there is one within these bytes."""
    encoded = text.encode()
    if len(encoded) <= budget:
        return text
    fence_end = "\n```"
    beginning = encoded[: max(0, budget - len(fence_end))].decode("utf-8", "ignore")
    for boundary in ("\n\n", "\n", " "):
        if (end := beginning.rfind(boundary)) > 0:
            beginning = beginning[:end]
            break
    fences = sum(bool(_FENCE.match(line)) for line in beginning.split("\n"))
    return beginning + (fence_end if fences % 2 else "")


def _below_the_prompts_headings(text: str) -> str:
    """Headings two levels deeper: the prompt has headings of its own above them."""
    lines, in_code = [], False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_code = not in_code
        if not in_code and (heading := _HEADING.match(line)):
            line = f"{'#' * min(6, heading.end() + 2)}{line[heading.end() :]}"
        lines.append(line)
    return "\n".join(lines)
