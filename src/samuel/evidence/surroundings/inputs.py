"""Which files of a tree decide what a project's environment has in it: manifests and lock files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from samuel.git.output import TreeEntry

USUAL_INPUTS = (
    *("package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lockb"),
    *("pyproject.toml", "requirements.txt", "requirements-dev.txt", "poetry.lock", "uv.lock", "Pipfile.lock"),
    ".gitmodules",
    *("Cargo.toml", "Cargo.lock", "go.mod", "go.sum", "Gemfile.lock", "composer.lock", "mix.lock"),
)
_INPUTS = frozenset(
    (
        *USUAL_INPUTS,
        *("bun.lock", "npm-shrinkwrap.json", "pnpm-workspace.yaml", ".npmrc", ".yarnrc", ".yarnrc.yml"),
        *("setup.py", "setup.cfg", "Pipfile", "environment.yml", ".python-version", ".nvmrc", ".node-version"),
        *("Gemfile", "composer.json", "mix.exs", "go.work", "rust-toolchain", "rust-toolchain.toml"),
        *("pom.xml", "build.gradle", "build.gradle.kts", "gradle.lockfile", ".tool-versions"),
    )
)
_REQUIREMENTS = re.compile(r"(^|/)(requirements[^/]*|requirements/[^/]+|constraints[^/]*)\.(txt|in)")


def is_input(path: str) -> bool:
    """Whether a file of this name decides what an environment has in it."""
    return path.rpartition("/")[2] in _INPUTS or _REQUIREMENTS.search(path) is not None


def inputs_of(command: str, entries: Mapping[str, TreeEntry]) -> dict[str, str]:
    """The files of a tree that a command which makes an environment depends on, with the ids of their contents."""
    named = {word.removeprefix("./") for word in re.split(r"[\s;&|()'\"=]+", command)}
    return {
        path: f"{entry.mode} {entry.object}" for path, entry in entries.items() if path in named or is_input(path)
    }


def digest_of(command: str, inputs: Mapping[str, str]) -> str:
    """What tells one environment from another."""
    digest = hashlib.sha256(command.encode())
    for path in sorted(inputs):
        digest.update(f"\0{path}\0{inputs[path]}".encode(errors="surrogateescape"))
    return digest.hexdigest()[:32]
