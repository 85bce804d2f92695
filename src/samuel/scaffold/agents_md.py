"""What the block says, and writing it into AGENTS.md and the files that other agents read instead."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from samuel.base.errors import ConfigError, Problem, UnsafePath
from samuel.config.model import Config
from samuel.files import atomic
from samuel.files.inside import refuse_links
from samuel.files.regular import read_regular
from samuel.routing.abilities.registry import has_registry
from samuel.routing.knowledge.reading import find_root
from samuel.scaffold.managed_block import with_block

SOURCE = "AGENTS.md"
MIRRORS = ("CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")
CREATED = ("CLAUDE.md", "GEMINI.md")  # the others are kept in step where they exist
MOST = 1024 * 1024


def content(config: Config, root: Path) -> str:
    """How to work here, for any agent."""
    settings = config.chosen(config.default_methodology)
    lines = ["## Working in this project", "", "Tasks are worked one at a time; `samuel run tasks` lists them."]
    if settings.quality_checks:
        lines += ["Before a task counts as done, these must pass:", ""]
        lines += [f"- `{command}`" for command in settings.quality_checks]
        lines.append("")
    lines += [
        "Claim a finished task with `samuel run done ID`. Do not edit samuel.toml, `.samuel/` or the task file."
    ]
    if has_registry(root):
        lines.append(
            'Find what can be done here with `samuel ability route "TEXT"`; do it with `samuel ability call ID`.'
        )
    if find_root(root) is not None:
        lines.append('Find what is written down about something with `samuel knowledge route "TEXT"`.')
    if config.guardrails:
        lines += ["", "Guardrails:", ""]
        lines += [f"- {key}: {value}" for key, value in config.guardrails.items()]
    return "\n".join(lines)


def plan(root: Path, text: str) -> dict[str, str]:
    """Path -> new content, of every file that would change."""
    changes = {}
    for name in (SOURCE, *MIRRORS):
        path = root / name
        if "/" in name:
            refuse_links(root, name.rpartition("/")[0])
        if not os.path.lexists(path) and name not in (SOURCE, *CREATED):
            continue
        if name != SOURCE and path.is_symlink() and os.path.realpath(path) == os.path.realpath(root / SOURCE):
            continue  # it says the same by itself
        old = _read(path)
        new = with_block(old, text, name)
        if new != old or not path.exists():
            changes[name] = new
    return changes


def write(root: Path, changes: Mapping[str, str]) -> Sequence[str]:
    for name, text in changes.items():
        atomic.write_text(root / name, text)
    return list(changes)


def _read(path: Path) -> str:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise UnsafePath(f"`{path.name}` is a link or not a file", "replace it by a file of its own, or remove it")
    try:
        data = read_regular(path, MOST + 1, follow=False)
    except FileNotFoundError:
        return ""
    if len(data) > MOST:
        raise ConfigError([Problem(f"larger than {MOST} bytes", path.name)])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError([Problem("not UTF-8", path.name, 0, "save it as UTF-8")]) from None
