"""Detecting the checks of a project from its own files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from samuel.base.errors import ConfigError
from samuel.checks.detect import project_files, quality_checks
from samuel.checks.files import CheckFiles
from samuel.git.git import Git

MINIMIST = """{"scripts": {
    "prepack": "npmignore --auto --commentLines=auto", "prelint": "evalmd README.md",
    "lint": "eslint --ext=js,mjs .", "pretest": "npm run lint", "tests-only": "nyc tape 'test/**/*.js'",
    "test": "npm run tests-only", "posttest": "npx npm@'>=10.2' audit --production"}}"""


def detected(root: Path, files: dict[str, str], *, repository: bool = True) -> list[str]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    if repository:
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    return quality_checks(root, project_files(root, Git(root, dict(os.environ))))


@pytest.mark.parametrize("repository", [True, False], ids=["git", "no git"])
@pytest.mark.parametrize(
    ("files", "checks"),
    [
        pytest.param(
            {
                "package.json": MINIMIST,
                "test/all_bool.js": "",
                ".gitignore": "node_modules\n",
                "node_modules/node-gyp/test/test_gyp.py": "",
                "node_modules/node-gyp/pytest.ini": "",
            },
            ["npm test --silent"],
            id="minimist",
        ),
        pytest.param(
            {
                "inflection/__init__.py": "",
                "test_inflection.py": "",
                "setup.cfg": "[bdist_wheel]\nuniversal = 1\n",
            },
            ["python -m pytest -q"],
            id="inflection",
        ),
        ({"setup.cfg": "[tool:pytest]\n", "src/app.py": ""}, ["python -m pytest -q"]),
        ({"tox.ini": "[pytest]\n"}, ["python -m pytest -q"]),
        ({"tox.ini": "[testenv]\ncommands = pytest {posargs}\n"}, ["python -m pytest -q"]),
        ({"tox.ini": "[testenv]\ncommands = python -m unittest\n"}, ["python -m tox -q"]),
        ({"tests/unit/deep/test_it.py": ""}, ["python -m pytest -q"]),
        ({"lib/other/test_it.py": ""}, []),
        ({"tests/run.js": ""}, []),
        ({"Makefile": "check:\n\ttrue\n"}, ["make check"]),
        ({"Makefile": "check: test\n\ttrue\ntest:\n\ttrue\n"}, ["make check"]),
        ({"Makefile": "check:\n\ttrue\ntest:\n\ttrue\n"}, ["make test"]),
        ({"GNUmakefile": "test:\n\ttrue\n"}, ["make test"]),
        ({"Makefile": "test = 1\ntest-all:\n\ttrue\n"}, []),
        pytest.param(
            {
                "Makefile": "test: lint\n\tpython -m pytest\nlint:\n\truff check .\n",
                "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n",
            },
            ["mypy .", "make test"],
            id="what make runs is not run again",
        ),
        ({"Makefile": "test:\n\tpython3 -m unittest -q\n", "tests/test_a.py": ""}, ["make test"]),
        ({"justfile": "test:\n  cargo test\n", "Cargo.toml": ""}, ["just test"]),
        ({"justfile": "build:\n  cargo build\n", "Cargo.toml": ""}, ["cargo test --quiet"]),
        ({"Rakefile": "require 'rake'\nRake::TestTask.new\n"}, ["rake test"]),
        ({"Rakefile": "RSpec::Core::RakeTask.new(:spec)\n", "Gemfile": ""}, ["bundle exec rake spec"]),
        ({"Gemfile": "", ".rspec": ""}, ["bundle exec rspec"]),
        (
            {"package.json": '{"scripts": {"test": "jest", "lint": "eslint ."}}', "pnpm-lock.yaml": ""},
            ["pnpm --silent test", "pnpm --silent run lint"],
        ),
        ({"package.json": '{"scripts": {"test": "jest"}}', "yarn.lock": ""}, ["yarn run test"]),
        ({"package.json": '{"scripts": {"test": "jest"}}', "bun.lockb": ""}, ["bun run test"]),
        (
            {"package.json": '{"scripts": {"test": "jest"}, "packageManager": "pnpm@9.1.0"}'},
            ["pnpm --silent test"],
        ),
        ({"package.json": '{"scripts": {"test": "eslint . && jest", "lint": "eslint ."}}'}, ["npm test --silent"]),
        (
            {"package.json": '{"scripts": {"test": "npm-run-all lint unit", "lint": "x", "unit": "y"}}'},
            ["npm test --silent"],
        ),
        (
            {"package.json": '{"scripts": {"test": "jest", "typecheck": "tsc"}}'},
            ["npm test --silent", "npm run --silent typecheck"],
        ),
        ({"package.json": '{"scripts": [1]}', "pyproject.toml": "= broken"}, []),
        ({}, []),
    ],
)
def test_checks_are_detected_from_the_files_of_the_project(
    tmp_path: Path, files: dict[str, str], checks: list[str], repository: bool
) -> None:
    assert detected(tmp_path, files, repository=repository) == checks


def test_what_git_ignores_is_not_part_of_the_project(tmp_path: Path) -> None:
    files = {".gitignore": "generated/\n", "generated/Makefile": "", "test_a.py": ""}
    assert detected(tmp_path, files) == ["python -m pytest -q"]
    assert detected(tmp_path, {".gitignore": "test_a.py\n"}) == []


def test_the_steps_of_the_scripted_agent_are_not_part_of_the_project(tmp_path: Path) -> None:
    assert detected(tmp_path, {".samuel/scripted/1/test_a.py": ""}) == []


def test_files_without_a_repository_leave_out_virtual_environments(tmp_path: Path) -> None:
    for name in ("mine/pyvenv.cfg", "mine/lib/test_x.py", "src/a.py", ".hidden/b.py", "node_modules/c.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert project_files(tmp_path, Git(tmp_path, dict(os.environ))) == ["src/a.py"]


DEEP = f"[tool.pytest.ini_options]\naddopts = ''\n[other]\na = {'[' * 100_000}\n"


def test_a_pyproject_that_nests_too_deep_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        detected(tmp_path, {"pyproject.toml": DEEP, "test_it.py": ""})
    assert (
        str(refused.value)
        == "pyproject.toml:4: the file nests deeper than 50 levels (make it flatter, or remove it)"
    )


def test_a_check_is_followed_also_where_a_pyproject_nests_too_deep(tmp_path: Path) -> None:
    files = {"pyproject.toml": DEEP, "tests/test_it.py": ""}
    reader = CheckFiles.of(["pytest"], list(files), lambda path: files.get(path, ""))
    assert reader.present == (("pytest", ("pyproject.toml", "tests/test_it.py")),)
    assert reader.touched(["pyproject.toml"]) == ("pyproject.toml",)
