"""Detecting the command that makes what the checks of a project need, from its lock files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.process import environment, interpreter


class PrepareSuggestion(NamedTuple):
    """A command for `prepare` in samuel.toml."""

    command: str
    lock_file: str
    makes: str
    """The directory that it makes."""
    is_missing: bool
    """Whether the project has no such directory: then the checks cannot have it from there."""


_BY_LOCK_FILE = {
    "uv.lock": ("uv sync --frozen", ".venv"),
    "poetry.lock": ("POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install", ".venv"),
    "Pipfile.lock": ("PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev", ".venv"),
    "package-lock.json": ("npm ci", "node_modules"),
    "npm-shrinkwrap.json": ("npm ci", "node_modules"),
    "pnpm-lock.yaml": ("pnpm install --frozen-lockfile", "node_modules"),
    "yarn.lock": ("yarn install --frozen-lockfile", "node_modules"),
    "bun.lock": ("bun install --frozen-lockfile", "node_modules"),
    "bun.lockb": ("bun install --frozen-lockfile", "node_modules"),
    "composer.lock": ("composer install", "vendor"),
}


def suggested_prepare(root: Path, files: Sequence[str], path: str) -> PrepareSuggestion | None:
    """What would make the environment of this project; None where no lock file says it.

    Only programs on `path` are suggested. Of several lock files, each that makes another directory counts.
    """
    chosen: dict[str, tuple[str, str]] = {}
    for lock_file, (command, makes) in _BY_LOCK_FILE.items():
        program = next(word for word in command.split() if "=" not in word)
        if (
            lock_file in files
            and makes not in chosen
            and interpreter.look_up(program, path or environment.DEFAULT_PATH)
        ):
            chosen[makes] = (command, lock_file)
    if not chosen:
        return None
    return PrepareSuggestion(
        " && ".join(command for command, _ in chosen.values()),
        ", ".join(lock_file for _, lock_file in chosen.values()),
        ", ".join(chosen),
        all(not (root / makes).is_dir() for makes in chosen),
    )
