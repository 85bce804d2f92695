"""Everything in a project that waits for an agreement or has one: what `samuel trust` shows."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from samuel import paths
from samuel.files.survey import TooManyFiles, survey
from samuel.printable import file_name
from samuel.trust.digests import read_file
from samuel.trust.store import MOST_KEPT, Agreement, TrustStore

SHOWN = 64 * 1024


class TrustItem(NamedTuple):
    name: str
    digest: str
    state: str  # trusted, new, changed, gone
    content: bytes = b""
    agreed_at: str = ""


def hook_files(root: Path) -> Iterable[tuple[str, Path]]:
    """The files in the project's hook directories. Directories that are links are none of ours."""
    for place in paths.HOOK_DIRS:
        directory = root / place
        if directory.is_symlink() or directory.parent.is_symlink() or not directory.is_dir():
            continue
        try:
            found = survey(directory)
        except (OSError, TooManyFiles):
            yield place, directory  # as something that cannot be read, rather than not at all
            continue
        for path in sorted(found):
            yield os.path.join(place, path), directory / path


def with_neighbours(root: Path, running: Iterable[str]) -> dict[str, Path]:
    """Files of a project that are run, by name, each with what lies beside it; of one in the root, it alone."""
    there = sorted(path for path in dict.fromkeys(running) if os.path.isfile(path))
    found = {os.path.relpath(path, root): Path(path) for path in there if os.path.dirname(path) == str(root)}
    for directory in dict.fromkeys(map(os.path.dirname, there)):
        if directory != str(root):
            found |= _inside(directory, root)
    return found


def _inside(directory: str, root: Path) -> dict[str, Path]:
    shown = os.path.relpath(directory, root)
    try:
        names = sorted(survey(directory))
    except (OSError, TooManyFiles):
        return {shown: Path(directory)}  # as something that cannot be read, rather than not at all
    return {os.path.join(shown, name): Path(directory, name) for name in names}


def review(
    root: Path,
    agreed: Mapping[str, Agreement],
    texts: Iterable[tuple[str, str, str]] = (),
    files: Iterable[tuple[str, Path]] = (),
) -> list[TrustItem]:
    """All that could run here, and how it stands.

    `texts` are (name, digest, content) of what is not a file; `files` are those outside of the hook directories.
    """
    found = [(file_name(name), *_read(name, path)) for name, path in dict([*hook_files(root), *files]).items()]
    found += [(name, digest, content.encode()) for name, digest, content in texts]
    items = []
    for name, digest, content in found:
        known = agreed.get(name)
        state = "new" if known is None else "trusted" if known.covers(digest) else "changed"
        items.append(TrustItem(name, digest, state, content, known.at if known else ""))
    here = {item.name for item in items}
    gone = [
        TrustItem(name, known.digest, "gone", b"", known.at) for name, known in agreed.items() if name not in here
    ]
    return [*items, *sorted(gone)]


def _read(name: str, path: Path) -> tuple[str, bytes]:
    """The digest and the content; nothing of a file whose name cannot be written into an agreement."""
    return read_file(str(path), MOST_KEPT + 1) if name == file_name(name) else ("", b"")


def show(item: TrustItem, agreed: Mapping[str, Agreement], store: TrustStore) -> str:
    """What a person reads before they agree: the whole text, or after a change the difference."""
    if item.state == "gone":
        return "(it was agreed to, and is gone or not used any more; yes means that this is right)"
    # A script stays a text, whatever is in it: a NUL must not hide what a shell would run.
    if b"\0" in item.content[:8192] and not item.content.startswith(b"#!"):
        return f"(binary, {_size(item)})"
    old = store.agreed_text(agreed[item.name].digest) if item.state == "changed" else None
    if old is None or len(item.content) > MOST_KEPT:
        cut = f"\n… and more: the file has {_size(item)}" if len(item.content) > SHOWN else ""
        return _text(item.content[:SHOWN]) + cut
    # All of it, not only what would be shown of a new file: the change may be at the very end.
    difference = difflib.unified_diff(
        _lines(old),
        _lines(item.content),
        f"{item.name} (agreed)",
        f"{item.name} (now)",
        lineterm="",
    )
    return "\n".join(difference) or "(the text is the same; its mode, or where it leads, has changed)"


def _text(content: bytes) -> str:
    """Two contents that differ are two texts that differ, also where they are not UTF-8."""
    return content.decode("utf-8", "backslashreplace")


def _lines(content: bytes) -> list[str]:
    *lines, last = _text(content).split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


def _size(item: TrustItem) -> str:
    kept = len(item.content)
    return f"more than {MOST_KEPT} bytes" if kept > MOST_KEPT else f"{kept} bytes"
