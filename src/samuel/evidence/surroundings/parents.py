"""Settings in the directories above the clean room, which programs find by walking up from where they run.

An agent that can write there could lead every check astray, so they must be as they were before the first agent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from samuel.files.survey import Signature, signature_if_exists

_NAMES = re.compile(
    r"""
    \.?pytest\.(ini|toml) | pyproject\.toml | tox\.ini | setup\.cfg | conftest\.py | \.coveragerc | \.?mypy\.ini
    | \.?ruff\.toml | \.flake8 | \.pylintrc | pylintrc | \.python-version | noxfile\.py
    | package\.json | node_modules | \.yarnrc(\.yml)? | \.pnp\.c?js | pnpm-workspace\.yaml
    | [tj]sconfig(\.[\w.-]+)?\.json | (jest|vitest|vite|babel|eslint|prettier|ava|playwright)\.config\.\w+
    | \.(babelrc|eslintrc|prettierrc|mocharc|nycrc|swcrc|c8rc|taprc)(\.\w+)? | deno\.jsonc? | bunfig\.toml
    | \.nvmrc | \.node-version | \.tool-versions | \.?mise\.toml
    | Cargo\.(toml|lock) | rust-toolchain(\.toml)? | \.?(clippy|rustfmt)\.toml
    | go\.(mod|work) | pom\.xml | (build|settings)\.gradle(\.kts)? | gradle\.properties
    | \.rspec | Gemfile | phpunit(\.dist)?\.xml(\.dist)? | composer\.json
    | Directory\.(Build|Packages)\.(props|targets) | nuget\.config | global\.json
    | (GNU)?Makefile | justfile | Rakefile | CMakePresets\.json | \.editorconfig | \.env
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BELOW = {".cargo": ("config", "config.toml"), ".mvn": ("maven.config", "jvm.config", "extensions.xml")}


def settings_in(directories: Iterable[Path]) -> dict[str, Signature]:
    """The settings that lie in these directories, with what tells whether they changed."""
    settings: dict[str, Signature] = {}
    for directory in directories:
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            inner_names = _BELOW.get(name, ()) if name in _BELOW else ("",) if _NAMES.fullmatch(name) else ()
            for inner in inner_names:
                path = os.path.join(directory, name, inner).rstrip("/")
                if own := signature_if_exists(path):
                    settings[path] = own
    return settings
