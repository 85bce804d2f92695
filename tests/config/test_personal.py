"""~/.samuel/config.toml: preferences of a user, never settings of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.base.errors import ConfigError
from samuel.config import Personal, load_personal


def test_preferences_without_a_file_are_the_defaults(tmp_path: Path) -> None:
    assert load_personal(tmp_path / "config.toml") == Personal()


def test_preferences_are_loaded(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('agent = "codex"\n[display]\nlive = false\nverbose = true\n')
    assert load_personal(file) == Personal(agent="codex", live=False, verbose=True)


def test_hooks_and_methodologies_in_the_personal_config_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[hooks."quality.check"]\nstrict = false\n[methodology.ralph]\nagent = "x"\nagnt = 1\n')
    with pytest.raises(ConfigError) as caught:
        load_personal(file)
    assert [(problem.line, problem.what) for problem in caught.value.problems] == [
        (1, "`hooks` belongs in a project's samuel.toml"),
        (3, "`methodology` belongs in a project's samuel.toml"),
    ]
