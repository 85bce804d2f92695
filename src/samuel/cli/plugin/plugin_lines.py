"""How plugins are shown: before the user trusts one, in a list, and as data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from samuel.base import paths
from samuel.base.printable import safe
from samuel.confine.containers import engine
from samuel.confine.walls import walls
from samuel.files.survey import TooManyFiles, survey
from samuel.files.toml.lines import toml_key
from samuel.plugins.candidate import PluginCandidate
from samuel.plugins.contents import HOOKS, contents
from samuel.plugins.installed import InstalledPlugin
from samuel.plugins.model import OCI, PYTHON, SKILL
from samuel.trust.digests import digest_file

MOST_CHANGES = 40
NOTHING_MORE = "nothing but its own files and its own data directory"

Row = tuple[str, Sequence[str]]


def block(rows: Sequence[Row], title: str) -> str:
    """A title and its rows, one below the other; empty rows are left out."""
    width = max((len(name) for name, lines in rows if any(lines)), default=0)
    block_lines = [safe(title, keep="")]
    for name, lines in rows:
        for number, line in enumerate(line for line in lines if line):
            block_lines.append(f"  {(name if number == 0 else '').ljust(width)}  {safe(line, keep='')}")
    return "\n".join(block_lines)


def heading(plugin: InstalledPlugin) -> str:
    named = plugin.title if plugin.name == plugin.title else f"{plugin.title}, called {plugin.name}"
    version = f" {plugin.manifest.version}" if plugin.manifest.version else ""
    return f"{named}{version} ({plugin.manifest.kind})"


def offer(candidate: PluginCandidate) -> str:
    """What the user reads before trusting the plugin."""
    plugin = candidate.plugin
    rows: list[Row] = [
        ("about", [plugin.manifest.summary]),
        ("from", [candidate.source.text_with_ref]),
        ("linked", ["its content may change between runs without asking you again"] if plugin.linked else []),
        ("commit", [candidate.entry.commit]),
        ("license", [plugin.manifest.license]),
        ("required by", [candidate.required_by]),
        *offered(plugin),
        ("may use", plugin.grants.lines() or [NOTHING_MORE]),
        ("that is new", candidate.news if candidate.before else []),
        ("changes", changes(candidate.before, plugin) if candidate.before else []),
        ("not held to", gaps(plugin)),
    ]
    return block(rows, heading(plugin))


def changes(before: InstalledPlugin, plugin: InstalledPlugin) -> list[str]:
    """The files that an update adds, removes and changes, and how many lines of each."""
    old, new = _files(before), _files(plugin)
    lines = []
    for name in sorted({*old, *new}):
        if name not in old:
            lines.append(f"added    {name}")
        elif name not in new:
            lines.append(f"removed  {name}")
        elif digest_file(str(old[name])) != digest_file(str(new[name])):
            lines.append(f"changed  {name}  {_line_counts(old[name], new[name])}")
    rest = len(lines) - MOST_CHANGES
    return [*lines[:MOST_CHANGES], f"and {rest} more files"] if rest > 0 else lines


def _files(plugin: InstalledPlugin) -> dict[str, Path]:
    try:
        return {name: plugin.directory / name for name in survey(plugin.directory) if not name.startswith(".git/")}
    except (OSError, TooManyFiles):
        return {}


def _line_counts(old: Path, new: Path) -> str:
    before, after = (file.read_bytes().splitlines() for file in (old, new))
    added, removed = Counter(after) - Counter(before), Counter(before) - Counter(after)
    if not added and not removed:
        return "(its mode, or the order of its lines)"
    return f"(+{added.total()} -{removed.total()} lines)"


def offered(plugin: InstalledPlugin) -> list[Row]:
    parts = contents(plugin.directory, plugin.manifest)
    return [("hooks", list(hooks(plugin))), ("skills", parts.skills), ("recipes", parts.recipes)]


def hooks(plugin: InstalledPlugin) -> Iterator[str]:
    """The hooks of a plugin with their events. A plain file names its events itself, which would run it."""
    bound = {binding.entry for binding in plugin.manifest.bindings}
    for binding in plugin.manifest.bindings:
        yield f"{binding.event} -> {binding.entry}"
    for name in contents(plugin.directory, plugin.manifest).hooks:
        if name not in bound:
            yield f"{HOOKS}/{name}, which names its own events"


def gaps(plugin: InstalledPlugin) -> list[str]:
    """The limits that this machine cannot enforce for the plugin."""
    if not contents(plugin.directory, plugin.manifest).hooks:
        return []
    if plugin.manifest.kind == OCI:
        return engine.gaps(os.environ, paths.User.from_environment().cache)
    if plugin.manifest.kind in (SKILL, PYTHON):
        strength = walls.strength()
        return [*strength.gaps, *([strength.why] if strength.gaps and strength.why else [])]
    return []


def counts(plugin: InstalledPlugin, verb: str = "Installed") -> str:
    parts = contents(plugin.directory, plugin.manifest)
    return (
        f"{verb} {plugin.title}:\n"
        f"  Skills:  {len(parts.skills)}\n"
        f"  Recipes: {len(parts.recipes)}\n"
        f"  Hooks:   {len(parts.hooks)}"
    )


def plain(plugin: InstalledPlugin, *, enabled: bool = True) -> dict[str, Any]:
    parts = contents(plugin.directory, plugin.manifest)
    return {
        "name": plugin.title,
        "location": plugin.location,
        "path": str(plugin.directory),
        **parts._asdict(),
        "kind": plugin.manifest.kind,
        "version": plugin.manifest.version,
        "capabilities": msgspec.to_builtins(plugin.grants),
        "enabled": enabled,
        "problems": [str(problem) for problem in plugin.problems],
    }


def everything(plugin: InstalledPlugin, enabled: bool) -> dict[str, Any]:
    manifest, locked = plugin.manifest, plugin.locked
    return {
        **plain(plugin, enabled=enabled),
        "manifest": msgspec.to_builtins(manifest) if manifest.file else None,
        "lock": msgspec.to_builtins(locked) if locked else None,
        "linked": plugin.linked,
    }


def portrait(plugin: InstalledPlugin, enabled: bool) -> str:
    manifest, locked = plugin.manifest, plugin.locked
    required = (f"{requirement.name} {requirement.version}".strip() for requirement in manifest.requires)
    rows: list[Row] = [
        ("about", [manifest.summary]),
        ("in samuel.toml", [f"[plugins.{toml_key(plugin.name)}]{'' if enabled else '  enabled = false'}"]),
        ("location", [f"{plugin.location}, {plugin.directory}"]),
        ("linked to", [plugin.linked]),
        ("from", [f"{locked.source}@{locked.ref}" if locked.ref else locked.source] if locked else []),
        ("commit", [locked.commit] if locked else []),
        ("sha256", [locked.digest] if locked else []),
        ("image", [locked.image] if locked else []),
        ("packages", locked.python if locked else ()),
        ("license", [manifest.license]),
        ("homepage", [manifest.homepage]),
        ("authors", manifest.authors),
        ("requires", list(required)),
        *offered(plugin),
        ("settings", [f"{key} = {value!r}" for key, value in manifest.config.items()]),
        ("may use", plugin.grants.lines() or [NOTHING_MORE]),
        ("not held to", gaps(plugin)),
        ("problems", [str(problem) for problem in plugin.problems]),
    ]
    return block(rows, heading(plugin))
