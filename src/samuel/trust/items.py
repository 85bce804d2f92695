"""Everything in a project that waits for an agreement or has one: what `samuel trust` shows."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from samuel import paths
from samuel.trust.content import TooMuch, read_file, survey
from samuel.trust.store import MOST_KEPT, Agreement, TrustStore

SHOWN = 64 * 1024


class Item(NamedTuple):
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
        except (OSError, TooMuch):
            continue
        for path in sorted(found):
            yield os.path.join(place, path), directory / path


def review(root: Path, agreed: Mapping[str, Agreement], texts: Iterable[tuple[str, str, str]] = ()) -> list[Item]:
    """All that could run here, and how it stands. `texts` are (name, digest, content) of what is not a file."""
    found = [(name, *read_file(str(path), MOST_KEPT + 1)) for name, path in hook_files(root)]
    found += [(name, digest, content.encode()) for name, digest, content in texts]
    items = []
    for name, digest, content in found:
        known = agreed.get(name)
        state = "new" if known is None else "trusted" if known.digest == digest else "changed"
        items.append(Item(name, digest, state, content, known.at if known else ""))
    here = {item.name for item in items}
    gone = [Item(name, known.digest, "gone", b"", known.at) for name, known in agreed.items() if name not in here]
    return [*items, *sorted(gone)]


def show(item: Item, agreed: Mapping[str, Agreement], store: TrustStore) -> str:
    """What a person reads before they agree: the whole text, or after a change the difference."""
    if b"\0" in item.content[:8192]:
        return f"(binary, {len(item.content)} bytes)"
    text = item.content[:SHOWN].decode("utf-8", "replace")
    if item.state == "changed" and (old := store.agreed_text(agreed[item.name].digest)) is not None:
        difference = difflib.unified_diff(
            old.decode("utf-8", "replace").splitlines(keepends=True),
            text.splitlines(keepends=True),
            f"{item.name} (agreed)",
            f"{item.name} (now)",
        )
        return "".join(difference) or "(only its mode has changed)"
    cut = f"\n… {len(item.content) - SHOWN} more bytes" if len(item.content) > SHOWN else ""
    return text + cut
