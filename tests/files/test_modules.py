from __future__ import annotations

from pathlib import Path

import pytest

from samuel.files.command_files import is_file, module_file


@pytest.mark.parametrize("where", ["check.py", "scripts/check.py", "scripts/check"])
def test_path_or_py_file_is_not_a_module_name(where: str) -> None:
    assert is_file(where)


@pytest.mark.parametrize("where", ["check", "package.check", "package.python"])
def test_a_dotted_name_is_a_module(where: str) -> None:
    assert not is_file(where)


def test_a_module_of_the_project_is_its_file(tmp_path: Path) -> None:
    for file in ("a/b.py", "a/c/__init__.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    assert [module_file(name, tmp_path) for name in ("a.b", "a.c", "a", "json")] == [
        "a/b.py",
        "a/c/__init__.py",
        "",
        "",
    ]
