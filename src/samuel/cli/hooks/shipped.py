"""The hooks that come with Samuel: which there are, and bringing one into a project.

That is its YAML in `.system/hooks/`, agreed to as written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from samuel.base import paths
from samuel.files import atomic
from samuel.files.inside import make_dirs_inside
from samuel.setup.consent import Consent
from samuel.shipped.table import SHIPPED_HOOKS, definition
from samuel.sources.yaml_cache import YamlHookCache, YamlHookFile
from samuel.sources.yaml_file import read_hook
from samuel.sources.yaml_hook import BUILTIN


def listed(reads: Iterable[YamlHookFile]) -> list[dict[str, str]]:
    """Each with what it is for, and how it stands in the project whose YAML files these are."""
    here: dict[str, bool] = {}
    for hook in (read.hook for read in reads if read.hook and read.hook.kind == BUILTIN):
        here[hook.command] = here.get(hook.command, False) or hook.enabled
    states = {True: "enabled", False: "disabled", None: "not here yet"}
    return [
        {
            "name": name,
            "event": ", ".join(SHIPPED_HOOKS[name].events),
            "status": states[here.get(name)],
            "summary": read_hook(definition(name), name, SHIPPED_HOOKS).summary,
        }
        for name in SHIPPED_HOOKS
    ]


def bring(root: Path, name: str) -> None:
    """Write the YAML of the shipped hook `name`, disabled, unless the project has that hook already."""
    file = f"{paths.YAML_HOOKS}/{name}.yaml"
    if name not in SHIPPED_HOOKS or os.path.lexists(root / file):
        return
    consent = Consent(root)
    if any(read.hook is not None and read.hook.id == name for read in YamlHookCache(SHIPPED_HOOKS).look(root)):
        return
    text = definition(name)
    directory = make_dirs_inside(root, paths.YAML_HOOKS, mode=0o755)
    try:
        atomic.write_at(directory, f"{name}.yaml", text, 0o644)
    finally:
        os.close(directory)
    consent.agree_to({file: text})
