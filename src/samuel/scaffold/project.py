"""A project's first files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from samuel import paths
from samuel.config.schema import config_schema
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside

TEMPLATE = Path(__file__).parent / "templates" / "samuel.toml"
SCHEMA = "samuel.schema.json"  # in .samuel/; editors read it because samuel.toml names it in its first line
SCHEMA_LINE = f"#:schema ./{paths.HOME}/{SCHEMA}\n"
HOOKS = paths.HOOK_DIRS[0]
IGNORED = "run/\nplugins/\n"  # what a run leaves behind, and what samuel.lock names, is nobody's to commit


class CreatedFiles(NamedTuple):
    written: list[str]
    kept: list[str]


def exists(root: Path) -> bool:
    """Is there a samuel.toml, of whatever kind?"""
    return os.path.lexists(root / paths.CONFIG)


def make(root: Path, *, minimal: bool, force: bool) -> CreatedFiles:
    """Write what is missing; with `force`, also what is there. Never through a link."""
    made = CreatedFiles([], [])
    for directory, name, text in _files(minimal):
        fd = make_dirs_inside(root, *directory, mode=0o755)
        try:
            shown = "/".join((*directory, name))
            if not force and _has(fd, name):
                made.kept.append(shown)
                continue
            atomic.write_at(fd, name, text.encode())
            made.written.append(shown)
        finally:
            os.close(fd)
    if not minimal:
        (made.kept if (root / HOOKS).is_dir() else made.written).append(f"{HOOKS}/")
        os.close(make_dirs_inside(root, HOOKS, mode=0o755))
    return made


def _files(minimal: bool) -> Iterator[tuple[tuple[str, ...], str, str]]:
    template = TEMPLATE.read_text(encoding="utf-8")
    yield (), paths.CONFIG, template if minimal else SCHEMA_LINE + template
    if not minimal:
        yield (paths.HOME,), SCHEMA, json.dumps(config_schema(), indent=2, ensure_ascii=False) + "\n"
        yield (paths.HOME,), ".gitignore", IGNORED


def _has(directory: int, name: str) -> bool:
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=directory, follow_symlinks=False)
        return True
    return False
