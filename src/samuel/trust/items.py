"""Everything in a project that is trusted or needs to be: what `samuel trust` shows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from samuel.base import paths
from samuel.base.printable import file_name
from samuel.files.survey import TooManyFiles, survey
from samuel.trust.digests import read_file
from samuel.trust.store import MAX_TEXT_BYTES, Agreement, TrustStore

MAX_SHOWN_BYTES = 64 * 1024


class TrustItem(NamedTuple):
    """A file or text that could run, and whether it is trusted."""

    name: str
    digest: str
    state: str  # trusted, new, changed, gone
    content: bytes = b""
    agreed_at: str = ""


def hook_files(root: Path) -> Iterable[tuple[str, Path]]:
    """The files in the project's hook directories, by name. Directories that are links are ignored."""
    for place in paths.HOOK_DIRS:
        directory = root / place
        if directory.is_symlink() or directory.parent.is_symlink() or not directory.is_dir():
            continue
        try:
            signatures = survey(directory)
        except (OSError, TooManyFiles):
            yield place, directory  # as something that cannot be read, rather than not at all
            continue
        for path in sorted(signatures):
            yield os.path.join(place, path), directory / path


def review(
    root: Path,
    agreed: Mapping[str, Agreement],
    texts: Iterable[tuple[str, str, str]] = (),
    files: Iterable[tuple[str, Path]] = (),
) -> list[TrustItem]:
    """Everything that could run in the project, and whether it is trusted.

    `texts` are (name, digest, content) of what is not a file; `files` are those outside of the hook directories.
    """
    contents = [(file_name(name), *_read(name, path)) for name, path in dict([*hook_files(root), *files]).items()]
    contents += [(name, digest, content.encode()) for name, digest, content in texts]
    items = []
    for name, digest, content in contents:
        agreement = agreed.get(name)
        state = "new" if agreement is None else "trusted" if agreement.covers(digest) else "changed"
        items.append(TrustItem(name, digest, state, content, agreement.at if agreement else ""))
    here = {item.name for item in items}
    gone = [
        TrustItem(name, agreement.digest, "gone", b"", agreement.at)
        for name, agreement in agreed.items()
        if name not in here
    ]
    return [*items, *sorted(gone)]


def _read(name: str, path: Path) -> tuple[str, bytes]:
    """The digest and the content of a file; empty if its name cannot be written into an agreement."""
    return read_file(str(path), MAX_TEXT_BYTES + 1) if name == file_name(name) else ("", b"")


def show(item: TrustItem, agreed: Mapping[str, Agreement], store: TrustStore) -> str:
    """What the user reads before they agree: the whole text, or after a change the difference."""
    if item.state == "gone":
        return "(it was agreed to, and is gone or not used any more; yes means that this is right)"
    # A script is shown as text, whatever it contains: a NUL must not hide what a shell would run.
    if b"\0" in item.content[:8192] and not item.content.startswith(b"#!"):
        return f"(binary, {_size(item)})"
    old = store.agreed_text(agreed[item.name].digest) if item.state == "changed" else None
    if old is None or len(item.content) > MAX_TEXT_BYTES:
        cut = f"\n… and more: the file has {_size(item)}" if len(item.content) > MAX_SHOWN_BYTES else ""
        return _text(item.content[:MAX_SHOWN_BYTES]) + cut
    # The whole content, not only what is shown of a new file: the change may be at the very end.
    import difflib  # only for people who look at a change

    difference = difflib.unified_diff(
        _lines(old),
        _lines(item.content),
        f"{item.name} (agreed)",
        f"{item.name} (now)",
        lineterm="",
    )
    return "\n".join(difference) or "(the text is the same; its mode, or the target of the link, has changed)"


def _text(content: bytes) -> str:
    """The content as text. Contents that differ give texts that differ, also if they are not UTF-8."""
    return content.decode("utf-8", "backslashreplace")


def _lines(content: bytes) -> list[str]:
    *lines, last = _text(content).split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


def _size(item: TrustItem) -> str:
    size = len(item.content)
    return f"more than {MAX_TEXT_BYTES} bytes" if size > MAX_TEXT_BYTES else f"{size} bytes"
