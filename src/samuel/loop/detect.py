"""Detecting the checks of a project, for `samuel run init`, which shows them and writes them to samuel.toml."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path


def quality_checks(root: Path) -> list[str]:
    """The check commands that the project's own files suggest."""
    commands: list[str] = []
    for detect in (_python, _node, _go, _rust, _java, _make):
        commands += [command for command in detect(root) if command not in commands]
    return commands


def _python(root: Path) -> list[str]:
    text = _read(root / "pyproject.toml")
    has_tests = any((root / name).exists() for name in ("pytest.ini", "tests", "test", "conftest.py"))
    commands = (
        ["python -m pytest -q"]
        if "[tool.pytest" in text or (has_tests and list(root.glob("**/test_*.py")))
        else []
    )
    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return commands
    if "ruff" in tools or (root / "ruff.toml").exists():
        commands.append("ruff check .")
    if "mypy" in tools:
        commands.append("mypy .")
    return commands


def _node(root: Path) -> list[str]:
    try:
        scripts = json.loads(_read(root / "package.json") or "{}").get("scripts", {})
    except (ValueError, AttributeError):
        return []
    commands = []
    if "test" in scripts and "no test specified" not in str(scripts["test"]):
        commands.append("npm test --silent")
    return commands + [f"npm run --silent {name}" for name in ("lint", "typecheck") if name in scripts]


def _go(root: Path) -> list[str]:
    return ["go vet ./...", "go test ./..."] if (root / "go.mod").exists() else []


def _rust(root: Path) -> list[str]:
    return ["cargo test --quiet"] if (root / "Cargo.toml").exists() else []


def _java(root: Path) -> list[str]:
    if (root / "pom.xml").exists():
        return ["mvn -q test"]
    return ["./gradlew test"] if (root / "gradlew").exists() else []


def _make(root: Path) -> list[str]:
    has_target = re.search(r"^test\s*:", _read(root / "Makefile"), re.MULTILINE)
    return ["make test"] if has_target else []


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[: 1 << 20]
    except OSError:
        return ""
