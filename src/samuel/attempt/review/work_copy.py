"""The copy of the work that a reviewer reads: the files of a git tree in a directory that is thrown away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from samuel.attempt.run_files import private_directory
from samuel.attempt.workplace import Workplace
from samuel.base.paths import Project
from samuel.evidence.room_files import RoomFiles
from samuel.evidence.surroundings.copies import remove
from samuel.files.inside import make_dirs_inside
from samuel.git.room_repository import RoomRepository
from samuel.git.trees import Trees

DIRECTORY = "reviews"

_INSTRUCTIONS = frozenset(
    {
        *("AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CRUSH.md"),
        *(".mcp.json", "opencode.json", "opencode.jsonc", ".aider.conf.yml", ".goosehints", ".cursorrules"),
        *(".clinerules", ".windsurfrules", "copilot-instructions.md"),
    }
)
"""Files in which agents find instructions, by name."""
_SETTINGS = frozenset(
    {
        *(".claude", ".codex", ".cursor", ".gemini", ".qwen", ".opencode", ".kiro", ".kimi", ".cline", ".pi"),
        *(".clinerules", ".goose", ".copilot", ".grok", ".agents", ".vscode"),
    }
)
"""Directories in which they find settings and hooks."""


def instructs_agents(path: str) -> bool:
    """Whether agents take instructions or settings from this file of a project."""
    *directories, name = path.split("/")
    return name in _INSTRUCTIONS or not _SETTINGS.isdisjoint(directories)


@contextmanager
def review_copy(place: Workplace, tree: str, base: str) -> Iterator[tuple[Path, Trees]]:
    """The root of the project in a directory with this tree, which is gone afterwards; and the trees.

    What instructs agents is as it was before the work: the author of the work must not instruct its reviewer.
    What a killed run left is removed first.
    """
    directory = private_directory(place) / DIRECTORY / ("own" if place.lane is None else str(place.lane))
    location = place.git.location()
    top = directory / "copy" / (location.top.name or "project")
    remove(directory)
    directory.mkdir(parents=True, mode=0o700)
    trees = Trees(place.git, directory / "trees", place.disk)
    try:
        instructing = filter(instructs_agents, trees.differing(base, tree))
        reviewed_tree = trees.combined(tree, base, instructing)
        RoomFiles(trees, top, lambda path: None).write(reviewed_tree)
        root = top / os.fsdecode(location.prefix)
        root.mkdir(parents=True, exist_ok=True)
        RoomRepository(trees.git, top).show(reviewed_tree)
        os.close(make_dirs_inside(root, *Project(root).run.relative_to(root).parts, mode=0o755))
        yield root, trees
    finally:
        remove(directory)
