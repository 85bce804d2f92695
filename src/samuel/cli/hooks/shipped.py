"""Bringing a hook that comes with Samuel into a project: its YAML in `.system/hooks/`, agreed to as written."""

from __future__ import annotations

import os
from pathlib import Path

from samuel import paths
from samuel.cli.consent import Consent
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside
from samuel.shipped.definition import definition
from samuel.sources.yaml_known import KnownFiles


def bring(root: Path, name: str) -> None:
    """Write the YAML of the shipped hook `name`, disabled, unless the project has that hook already."""
    text = definition(name)
    file = f"{paths.YAML_HOOKS}/{name}.yaml"
    if text is None or os.path.lexists(root / file):
        return
    consent = Consent(root)
    if any(read.hook is not None and read.hook.id == name for read in KnownFiles().look(root)):
        return
    directory = make_dirs_inside(root, paths.YAML_HOOKS, mode=0o755)
    try:
        atomic.write_at(directory, f"{name}.yaml", text, 0o644)
    finally:
        os.close(directory)
    consent.agree(item for item in consent.items() if (item.name, item.content) == (file, text))
