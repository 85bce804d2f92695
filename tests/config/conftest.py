from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.errors import ConfigError
from samuel.config import Config, load


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "samuel.toml"


@pytest.fixture
def loaded(file: Path) -> Callable[[str], Config]:
    """Load a text."""

    def run(text: str) -> Config:
        file.write_text(text)
        return load(file)

    return run


@pytest.fixture
def refused(file: Path) -> Callable[[str | bytes], str]:
    """The whole error that loading a text gives, with the file called `F`."""

    def run(text: str | bytes) -> str:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ConfigError) as caught:
            load(file)
        assert caught.value.exit_code == 2
        assert {problem.file for problem in caught.value.problems} == {str(file)}
        return str(caught.value).replace(str(file), "F")

    return run
