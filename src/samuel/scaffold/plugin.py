"""A plugin to start from. It works as written, for every kind, and has a test that fires it for real.

The templates are also the plugins below `examples/plugins/`: what people read there is what they get here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import SamuelError, UsageError
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside
from samuel.files.toml.lines import toml_key
from samuel.plugins.manifest import plugin_name
from samuel.plugins.model import KINDS, META
from samuel.scaffold.hook import with_values
from samuel.skills.skill import LONGEST_NAME

TEMPLATES = Path(__file__).parent / "templates" / "plugin"
NEW_KINDS = tuple(kind for kind in KINDS if kind != META)  # a plugin that only requires others is one file
IGNORED = "__pycache__/\n.pytest_cache/\n"
MASK = ".txt"  # ends the names of templates that tools would take for a part of Samuel


class TemplateFile(NamedTuple):
    path: str  # below the plugin's directory
    data: bytes
    mode: int


def plugin(name: str, kind: str) -> list[TemplateFile]:
    """The files of a new plugin, by path."""
    try:
        values = _values(plugin_name(name))
    except ValueError as error:
        raise UsageError(f"`{name}` cannot name a plugin", f"it {error}") from None
    files = [TemplateFile(".gitignore", IGNORED.encode(), 0o644)]
    for template in TEMPLATES.joinpath(kind).rglob("*"):
        if template.is_file() and template.parent.name != "__pycache__":
            path = with_values(str(template.relative_to(TEMPLATES / kind)), values).removesuffix(MASK)
            data = template.read_bytes()
            if b"\0" not in data:  # a built module stays as it is
                data = with_values(data.decode(), values).encode()
            files.append(TemplateFile(path, data, 0o755 if data.startswith(b"#!") else 0o644))
    return sorted(files)


def directory_name(name: str) -> str:
    """The name of a plugin's directory: the last part of `org/name`."""
    return name.rpartition("/")[2]


def write(directory: Path, files: Iterable[TemplateFile]) -> None:
    """Write the files into a directory that is new or empty."""
    if os.path.lexists(directory) and (directory.is_symlink() or not directory.is_dir() or os.listdir(directory)):
        raise SamuelError(f"`{directory}` exists already", "choose another name, or remove it first")
    directory.mkdir(parents=True, exist_ok=True)
    for file in files:
        parent, name = os.path.split(file.path)
        inside = make_dirs_inside(directory, *([parent] if parent else []), mode=0o755)
        try:
            atomic.write_at(inside, name, file.data, file.mode)
        finally:
            os.close(inside)


def _values(name: str) -> dict[str, str]:
    plain = "-".join(re.findall(r"[a-z0-9]+", directory_name(name).lower()))
    return {
        "NAME": name,
        "KEY": toml_key(name),  # in TOML
        "CONTEXT": f"Plugins.{name}" if name.isidentifier() else f'Plugins["{name}"]',  # in a prompt's template
        "SKILL": plain[:LONGEST_NAME].strip("-"),
        "IMAGE": plain,
    }
