"""The background of all tasks: what their source says besides them, saved by `run init` for the prompts of a run.

prd-context.md has the path of the source in its first line, then an empty line, then the text. prd-documents.json
has the documents beside the source: a design, a plan, a specification.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.base.printable import safe
from samuel.files import atomic
from samuel.files.inside import is_inside, read_inside
from samuel.files.regular import read_regular
from samuel.tasks.importing import TaskImport

FILE = "prd-context.md"
DOCUMENTS = "prd-documents.json"
MOST_SAVED = 256 * 1024
"""Bytes; a prompt takes far less."""
LEAST = 200
"""Bytes of a document below which it is not worth a heading."""

_HEADING = re.compile(r"#{1,6}(?=\s)")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")


class SavedDocument(msgspec.Struct, frozen=True):
    name: str
    path: str
    text: str


class BackgroundParts(NamedTuple):
    """What a prompt gets: the text of the source, and the documents beside it, as `{Name, Path, Text}`."""

    text: str
    documents: list[dict[str, str]]


def save_sources(state: Path, root: Path, task_import: TaskImport) -> None:
    """Save the text of a source and the documents beside it for the prompts."""
    save(state, root, task_import.source.path, task_import.imported.prose)
    documents = []
    for name, path in task_import.imported.documents:
        try:
            text = read_regular(path, MOST_SAVED).decode("utf-8", "replace").strip()
        except OSError:
            continue
        if text:
            documents.append(SavedDocument(safe(name, keep=""), _shown_path(path, root), text))
    if documents:
        atomic.write_bytes(state / DOCUMENTS, msgspec.json.encode(documents))
    else:
        (state / DOCUMENTS).unlink(missing_ok=True)


def save(state: Path, root: Path, prd: Path | None, text: str) -> None:
    """Save the text of a PRD for the prompts; without any, a text that was saved before is removed."""
    path = _shown_path(prd, root) if prd else "standard input"
    if text.strip():
        atomic.write_text(state / FILE, f"{path}\n\n{_cut(text, MOST_SAVED)}\n")
    else:
        (state / FILE).unlink(missing_ok=True)


def _shown_path(path: Path, root: Path) -> str:
    path, root = path.resolve(), root.resolve()
    return safe(str(path.relative_to(root)) if is_inside(path, root) else str(path), keep="")


def parts(state: Path, budget: int) -> BackgroundParts:
    """The background within `budget` bytes: what one part leaves of its share is for the others."""
    documents, text = _documents(state), background(state, MOST_SAVED)
    sizes = [len(text.encode()), *(len(document.text.encode()) + 200 for document in documents)]
    first, *others = _shares(sizes, budget)
    documents_in_prompt = [
        {"Name": document.name, "Path": document.path, "Text": _within(document.path, document.text, share)}
        for document, share in zip(documents, others, strict=True)
        if share > LEAST
    ]
    return BackgroundParts(background(state, first) if text else "", documents_in_prompt)


def _documents(state: Path) -> list[SavedDocument]:
    try:
        return decode_json(read_inside(state, DOCUMENTS, limit=64 * MOST_SAVED), list[SavedDocument])
    except (OSError, SamuelError, UnicodeDecodeError, msgspec.MsgspecError):  # as for the text
        return []


def _shares(sizes: Sequence[int], budget: int) -> list[int]:
    shares = [0] * len(sizes)
    left, count = budget, len(sizes)
    for index in sorted(range(len(sizes)), key=sizes.__getitem__):
        shares[index] = min(sizes[index], left // count)
        left, count = left - shares[index], count - 1
    return shares


def background(state: Path, budget: int) -> str:
    """The text for a prompt, at most `budget` bytes of it, with where the whole is; "" if there is none."""
    try:
        content = read_inside(state, FILE, limit=2 * MOST_SAVED).decode("utf-8", "replace")
    except (OSError, SamuelError):  # an agent may have written there: no background is better than no prompt
        return ""
    path, _, text = content.partition("\n")
    return _within(path, text.strip("\n"), budget)


def _within(path: str, text: str, budget: int) -> str:
    text = _below_the_prompts_headings(text)
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
