"""What one person prefers; never what a project decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.config import Personal, load_personal
from samuel.errors import ConfigError


def test_without_a_file(tmp_path: Path) -> None:
    assert load_personal(tmp_path / "config.toml") == Personal()


def test_what_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('agent = "codex"\n[display]\nlive = false\nverbose = true\n')
    assert load_personal(file) == Personal(agent="codex", live=False, verbose=True)


def test_hooks_are_a_projects_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[hooks."quality.check"]\nstrict = false\n[methodology.ralph]\nagent = "x"\nagnt = 1\n')
    with pytest.raises(ConfigError) as caught:
        load_personal(file)
    assert [(problem.line, problem.what) for problem in caught.value.problems] == [
        (1, "`hooks` belongs into a project's samuel.toml"),
        (3, "`methodology` belongs into a project's samuel.toml"),
    ]
