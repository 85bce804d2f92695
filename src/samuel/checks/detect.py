"""Detecting the checks of a project, for `samuel run init`, which shows them and writes them to samuel.toml.

Only files of the project count: what git ignores, such as node_modules, has tests and settings of other projects.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from samuel.base.errors import ConfigError, Problem
from samuel.base.paths import SCRIPTED
from samuel.checks.commands import just_recipes, package_scripts
from samuel.checks.files import CheckFiles, disk_reader
from samuel.checks.makefile import NAMES as MAKEFILES
from samuel.checks.makefile import Makefile
from samuel.checks.pytest_settings import TextReader
from samuel.files.toml.lines import TOO_DEEP, TomlTooDeep, toml_values
from samuel.git.git import Git, GitFailed

MOST_FILES = 20_000  # that are looked at where there is no repository
_OTHERS = frozenset(
    (
        *("node_modules", "bower_components", "vendor", "site-packages", "__pycache__", "target", "dist", "build"),
        *("venv", "env", "htmlcov", "coverage"),
    )
)
_SAME_TESTS = {"unittest": "pytest", "tox": "pytest", "nox": "pytest"}  # runners of the same tests
_PYTHON_TESTS = ("test_*.py", "*_test.py")
_LOCK_FILES = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
_RUN_SCRIPT = {
    "npm": ("npm test --silent", "npm run --silent {}"),
    "pnpm": ("pnpm --silent test", "pnpm --silent run {}"),
    "yarn": ("yarn run test", "yarn run {}"),
    "bun": ("bun run test", "bun run {}"),
}


def project_files(root: Path, git: Git) -> list[str]:
    """The project's own files: those that git does not ignore, or all but the usual directories of others."""
    if git.is_repository:
        try:
            own = [path for path in git.files() if not path.startswith(f"{SCRIPTED}/")]
            return [path for path in own if os.path.lexists(root / path)]
        except GitFailed:
            pass
    files: list[str] = []
    for directory, names, file_names in os.walk(root):
        place = Path(directory)
        names[:] = sorted(name for name in names if _is_own(place / name))
        relative = "" if place == root else f"{place.relative_to(root)}/"
        files += (f"{relative}{name}" for name in sorted(file_names))
        if len(files) > MOST_FILES:
            break
    return files[:MOST_FILES]


def _is_own(directory: Path) -> bool:
    name = directory.name
    return not (name.startswith(".") or name in _OTHERS or (directory / "pyvenv.cfg").exists())


def quality_checks(root: Path, files: Sequence[str]) -> list[str]:
    """The check commands that the project's own files suggest; what another check runs already is left out."""
    read = disk_reader(root)
    own = set(files)

    def read_own(path: str) -> str:
        return read(path) if path in own else ""

    project = _Project(sorted(own), read_own)
    languages = [command for detect in _LANGUAGES for command in detect(project)]
    general = [command for detect in _GENERAL for command in detect(project)]
    return _without_repetition([*general, *languages], [*languages, *general], project)


class _Project:
    def __init__(self, files: Sequence[str], read: TextReader) -> None:
        self.files = files
        self.read = read

    def has(self, *patterns: str) -> bool:
        """Whether a file has such a path; a star stands for one name or a part of it."""
        return any(
            fnmatchcase(path, pattern) and path.count("/") == pattern.count("/")
            for path in self.files
            for pattern in patterns
        )


def _without_repetition(by_extent: list[str], order: list[str], project: _Project) -> list[str]:
    """The commands that do something which no command before them in `by_extent` does."""
    chosen: list[str] = []
    steps: set[str] = set()
    runners: set[str] = set()
    for command in by_extent:
        check = CheckFiles.of([command], project.files, project.read)
        own_runners = {_SAME_TESTS.get(name, name) for name in check.runners}
        repeats_step = check.steps and check.steps <= steps
        repeats_runner = own_runners and own_runners <= runners
        if not (repeats_step or repeats_runner):
            chosen.append(command)
        steps |= check.steps
        runners |= own_runners
    return [command for command in dict.fromkeys(order) if command in chosen]


def _python(project: _Project) -> list[str]:
    tools = _tools(project.read("pyproject.toml"))
    has_settings = (
        "pytest" in tools
        or project.has("pytest.ini", ".pytest.ini")
        or "[tool:pytest]" in project.read("setup.cfg")
        or re.search(r"^\[pytest\]|\bpytest\b", project.read("tox.ini"), re.MULTILINE)
    )
    commands = ["python -m pytest -q"] if has_settings or _has_python_tests(project) else []
    if not commands and "[testenv" in project.read("tox.ini"):
        commands.append("python -m tox -q")
    if "ruff" in tools or project.has("ruff.toml", ".ruff.toml"):
        commands.append("ruff check .")
    if "mypy" in tools or project.has("mypy.ini", ".mypy.ini"):
        commands.append("mypy .")
    return commands


def _has_python_tests(project: _Project) -> bool:
    """In the root, or at any depth below `tests` or `test`."""
    return project.has(*_PYTHON_TESTS) or any(
        path.startswith(("tests/", "test/"))
        and any(fnmatchcase(path.rpartition("/")[2], name) for name in _PYTHON_TESTS)
        for path in project.files
    )


def _tools(pyproject: str) -> dict[str, Any]:
    try:
        tools = toml_values(pyproject).get("tool", {})
    except TomlTooDeep as error:
        hint = "make it flatter, or remove it"
        raise ConfigError([Problem(f"the file {TOO_DEEP}", "pyproject.toml", error.line, hint)]) from None
    except ValueError:
        return {"pytest": {}} if "[tool.pytest" in pyproject else {}
    return tools if isinstance(tools, dict) else {}


def _node(project: _Project) -> list[str]:
    text = project.read("package.json")
    scripts = package_scripts(text)
    run_test, run_script = _RUN_SCRIPT[_package_manager(project, text)]
    commands = []
    if "test" in scripts and "no test specified" not in scripts["test"]:
        commands.append(run_test)
    return commands + [run_script.format(name) for name in ("lint", "typecheck") if name in scripts]


def _package_manager(project: _Project, package: str) -> str:
    """By the lock file, or as `packageManager` in package.json names it."""
    for lock_file, name in _LOCK_FILES.items():
        if project.has(lock_file):
            return name
    try:
        name = str(json.loads(package or "{}").get("packageManager", "")).partition("@")[0]
    except (ValueError, AttributeError, RecursionError):
        return "npm"
    return name if name in _RUN_SCRIPT else "npm"


def _go(project: _Project) -> list[str]:
    return ["go vet ./...", "go test ./..."] if project.has("go.mod") else []


def _rust(project: _Project) -> list[str]:
    return ["cargo test --quiet"] if project.has("Cargo.toml") else []


def _java(project: _Project) -> list[str]:
    if project.has("pom.xml"):
        return ["mvn -q test"]
    return ["./gradlew test"] if project.has("gradlew") else []


def _ruby(project: _Project) -> list[str]:
    bundle = "bundle exec " if project.has("Gemfile") else ""
    text = next(filter(None, map(project.read, ("Rakefile", "rakefile", "Rakefile.rb"))), "")
    if re.search(r"Rake::TestTask|Minitest::TestTask|^\s*task\s*\(?:test\b|^\s*task\s+test:", text, re.MULTILINE):
        return [f"{bundle}rake test"]
    if re.search(r"RSpec::Core::RakeTask|^\s*task\s*\(?:spec\b|^\s*task\s+spec:", text, re.MULTILINE):
        return [f"{bundle}rake spec"]
    return [f"{bundle}rspec"] if project.has(".rspec", "spec/*_spec.rb") else []


def _make(project: _Project) -> list[str]:
    makefile = Makefile()
    makefile.read(next(filter(None, map(project.read, MAKEFILES)), ""))
    return [f"make {name}" for name in _test_targets(makefile)]


def _test_targets(makefile: Makefile) -> list[str]:
    """`test`, or `check` where there is no `test` or where it makes that as well."""
    has: list[str] = [name for name in ("test", "check") if name in makefile.recipes]
    if len(has) == 2:
        return ["check"] if "test" in makefile.targets("check") else ["test"]
    return has


def _just(project: _Project) -> list[str]:
    text = next(filter(None, map(project.read, ("justfile", "Justfile", ".justfile"))), "")
    recipes = just_recipes(text)
    return [f"just {name}" for name in ("test", "check") if name in recipes][:1]


_LANGUAGES = (_python, _node, _go, _rust, _java, _ruby)
_GENERAL = (_make, _just)  # what these run, the others need not run again
