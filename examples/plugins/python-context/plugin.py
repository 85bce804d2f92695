"""What an agent needs to know of a Python project before it types `python`: found by reading, never by running.

It is contributed as `data`, so every template can say {{ Plugins.python.Venv }}, and every handler that comes
later finds it under `context.Plugins.python`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ENVIRONMENTS = (".venv", "venv", "env")


def python_context(event: Any) -> dict[str, Any]:
    root = Path(event.project_root)
    project = _project(root)
    environment = next((name for name in ENVIRONMENTS if (root / name / "pyvenv.cfg").is_file()), "")
    if not environment and not project and not (root / "requirements.txt").is_file():
        return {}  # no Python here: nothing to say
    most = int(event.plugin.config["max_requirements"])
    requirements = _requirements(root, project)
    return {
        "data": {
            "Venv": environment,
            "PyVersion": _version(root, environment, project),
            "Requirements": requirements[:most],
            "More": max(len(requirements) - most, 0),
        }
    }


def _project(root: Path) -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    try:
        with open(root / "pyproject.toml", "rb") as file:
            table = tomllib.load(file).get("project")
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
    return table if isinstance(table, dict) else {}


def _requirements(root: Path, project: dict[str, Any]) -> list[str]:
    lines = _lines(root / "requirements.txt")
    stripped = (line.split("#", 1)[0].strip() for line in lines)
    listed = [line for line in stripped if line and not line.startswith("-")]
    declared = project.get("dependencies")
    return listed or ([str(requirement) for requirement in declared] if isinstance(declared, list) else [])


def _version(root: Path, environment: str, project: dict[str, Any]) -> str:
    """The version of the environment, which is what `python` will be; or the one that the project asks for."""
    if environment:
        for line in _lines(root / environment / "pyvenv.cfg"):
            if match := re.match(r"version(?:_info)? *= *(\d+\.\d+(?:\.\d+)?)", line):
                return match[1]
    pinned = _lines(root / ".python-version")
    return pinned[0].strip() if pinned else str(project.get("requires-python", ""))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
