"""Counts what Samuel loads of public collections: `python benchmarks/imports CLONE... [--refused]`.

Each CLONE is a git repository with a work tree. Hooks are the entries in its files of hooks for Claude Code, Codex
and Cursor; skills are its SKILL.md files. A file that cannot be read counts as one hook that does not load. The
hooks are read and not run, and nothing of a clone is kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.clients.hook_formats.entry import ImportedFile
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.skills.skill import name_of, skill
from samuel.skills.text_files import TextDirectory, read_directory
from samuel.sources.client_hooks.find import read_file

SKILL_FILE, PLUGIN_FILE = "SKILL.md", "hooks/hooks.json"


class Loaded(NamedTuple):
    """What one collection has of one kind."""

    loaded: int
    refused: Counter[str]

    @property
    def total(self) -> int:
        return self.loaded + self.refused.total()

    def __str__(self) -> str:
        return f"{self.loaded} of {self.total} ({self.loaded / self.total:.1%})" if self.total else "none"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python benchmarks/imports", description=__doc__)
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--refused", action="store_true", help="print why each of the others does not load")
    arguments = parser.parse_args()
    print("| collection | commit | hooks | skills |\n|---|---|---|---|")
    rows = []
    for clone in arguments.clones:
        root = clone.resolve()
        row = root.name, hooks_of(root), skills_of(root)
        rows.append(row)
        print(f"| {row[0]} | {version(root)} | {row[1]} | {row[2]} |", flush=True)
    print(f"| all | | {joined(row[1] for row in rows)} | {joined(row[2] for row in rows)} |")
    if arguments.refused:
        for name, *kinds in rows:
            for why, count in (pair for kind in kinds for pair in kind.refused.most_common()):
                print(f"{name}: {count} x {why}")


def joined(parts: Iterator[Loaded]) -> Loaded:
    loaded, refused = 0, Counter[str]()
    for part in parts:
        loaded += part.loaded
        refused += part.refused
    return Loaded(loaded, refused)


def version(clone: Path) -> str:
    """The commit that is read, with its date."""
    command = ["git", "-C", clone, "log", "-1", "--format=%h %cs", "--abbrev=7"]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def files(clone: Path, ending: str) -> list[Path]:
    """The files of the commit whose names end so."""
    command = ["git", "-C", clone, "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return [clone / name for name in sorted(listed.split("\0")) if name.endswith(ending)]


def hooks_of(clone: Path) -> Loaded:
    loaded, refused, names = 0, Counter[str](), Counter[str]()
    for file in files(clone, ".json"):
        if not has_hooks(file):
            continue
        name = str(file.relative_to(clone))
        plugin = str(file.parents[1]) if name.endswith(PLUGIN_FILE) else ""
        read = read_file(ImportedFile(client_of(file), name, clone, plugin), names)
        refused.update(problem.what for problem in read.problems)
        refused.update(hook.left_out for hook in read.hooks if hook.left_out)
        loaded += sum(not hook.left_out for hook in read.hooks)
    return Loaded(loaded, refused)


def has_hooks(file: Path) -> bool:
    """Whether it has hooks by event, as settings and plugins do."""
    try:
        settings = json.loads(file.read_text())
    except ValueError:
        return file.match("hooks/hooks.json")
    return isinstance(settings, dict) and isinstance(settings.get("hooks"), dict) and bool(settings["hooks"])


def client_of(file: Path) -> str:
    named = next((agent for agent in ("cursor", "codex") if agent in file.name or f".{agent}" in file.parts), "")
    return named or "claude"


def skills_of(clone: Path) -> Loaded:
    loaded, refused = 0, Counter[str]()
    skill_files = [file for file in files(clone, SKILL_FILE) if file.name == SKILL_FILE]
    for folder in dict.fromkeys(file.parents[1] for file in skill_files):
        own = [file for file in skill_files if file.parents[1] == folder]
        if not folder.is_relative_to(clone):
            refused["it is not in a directory of skills"] += len(own)
            continue
        directory = TextDirectory(clone, str(folder.relative_to(clone)), Origin.PROJECT)
        items = {text.path: skill(text) for text in read_directory(directory, name_of, 2, by_line=True)}
        for file in own:
            if file not in items:
                refused["its directory is hidden, or a link"] += 1
            elif items[file].status is HandlerStatus.ACTIVE:
                loaded += 1
            else:
                refused[items[file].reason.removeprefix(str(file)).lstrip(":0123456789 ")] += 1
    return Loaded(loaded, refused)


if __name__ == "__main__":
    main()
