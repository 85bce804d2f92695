"""What contributors use works: requirements that are written twice agree, and the changelog can be built."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest
import yaml

from .story import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PRE_COMMIT = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
HOOKS = [hook for repository in PRE_COMMIT["repos"] for hook in repository["hooks"]]
WORKFLOWS = sorted((ROOT / ".github").rglob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_a_pre_commit_hook_installs_the_version_that_the_project_asks_for(hook: dict[str, Any]) -> None:
    assert hook["language"] == "python", "it needs no .venv of the project"
    assert set(hook["additional_dependencies"]) <= set(PROJECT["project"]["optional-dependencies"]["dev"])


def test_the_files_in_changes_become_a_section_of_the_changelog() -> None:
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "next"]
    draft = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert draft.returncode == 0, draft.stderr
    assert draft.stdout.startswith("## next (")
    assert PROJECT["tool"]["towncrier"]["start_string"] in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_file_for_github_is_yaml_and_starts_only_targets_that_exist(file: Any) -> None:
    text = file.read_text()
    assert isinstance(yaml.safe_load(text), dict)
    for target in re.findall(r"run: make ([\w-]+)", text):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


@pytest.mark.parametrize("page", ["AGENTS.md", "CONTRIBUTING.md", "RELEASING.md"])
def test_a_page_for_contributors_names_only_targets_and_paths_that_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    for target in re.findall(r"\bmake ([a-z][\w-]*)(?=[`\s]*(?:#|`|\n))", text):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    for path in re.findall(r"`((?:src|tests|docs|tools|examples|benchmarks|changes)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path
