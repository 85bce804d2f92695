"""The files that `samuel init` writes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.base import paths
from samuel.config.schema import config_schema
from samuel.files import atomic
from samuel.files.inside import exists_at, make_dirs_inside

TEMPLATE = Path(__file__).parent / "templates" / "samuel.toml"
SCHEMA = "samuel.schema.json"  # in .samuel/; editors read it because samuel.toml names it in its first line
SCHEMA_LINE = f"#:schema ./{paths.HOME}/{SCHEMA}\n"
HOOKS = paths.HOOK_DIRS[0]
IGNORED = "run/\nplugins/\n"  # what a run leaves behind, and what samuel.lock names, is not committed


class CreatedFiles(NamedTuple):
    """Paths relative to the project."""

    new_files: list[str]
    existing_files: list[str]  # left as they were


def exists(root: Path) -> bool:
    """True if the project has a samuel.toml, whatever kind of file it is."""
    return os.path.lexists(root / paths.CONFIG)


def write_files(root: Path, *, minimal: bool, force: bool) -> CreatedFiles:
    """Write the files that are missing; with `force`, also those that exist. Never through a link."""
    created = CreatedFiles([], [])
    for directory, name, text in _files(minimal):
        fd = make_dirs_inside(root, *directory, mode=0o755)
        try:
            path = "/".join((*directory, name))
            if not force and exists_at(fd, name):
                created.existing_files.append(path)
                continue
            atomic.write_at(fd, name, text.encode())
            created.new_files.append(path)
        finally:
            os.close(fd)
    if not minimal:
        (created.existing_files if (root / HOOKS).is_dir() else created.new_files).append(f"{HOOKS}/")
        os.close(make_dirs_inside(root, HOOKS, mode=0o755))
    return created


def _files(minimal: bool) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The directory, the name and the text of each file."""
    template = TEMPLATE.read_text(encoding="utf-8")
    yield (), paths.CONFIG, template if minimal else SCHEMA_LINE + template
    if not minimal:
        yield (paths.HOME,), SCHEMA, json.dumps(config_schema(), indent=2, ensure_ascii=False) + "\n"
        yield (paths.HOME,), ".gitignore", IGNORED
