"""ARCHITECTURE.md and the pages of docs/design are about the rooms and files that there are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "samuel"
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROWS = [line.split("|")[1:4] for line in MAP.splitlines() if line.startswith("| `")]
PAGES = sorted((ROOT / "docs" / "design").glob("*.md"))


def test_the_map_has_every_room() -> None:
    rooms = {name.rstrip("/") for cells in ROWS for name in re.findall("`([^`]+)`", cells[0])}
    directories = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    files = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py", "version.py"}
    assert rooms == directories | files


def test_every_file_to_begin_with_is_there() -> None:
    for room, _, first in ROWS:
        directory = PACKAGE / re.findall("`([^`]+)`", room)[0]
        for name in re.findall("`([^`]+)`", first):
            assert (directory / name).exists(), f"{directory.name}/{name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_design_page_names_files_that_are_there(page: Path) -> None:
    for name in re.findall(r"`((?:\w+/)+\w+\.(?:py|c|h))`", page.read_text(encoding="utf-8")):
        assert (PACKAGE / name).exists() or (ROOT / name).exists(), name


def test_every_design_page_is_named_by_the_map() -> None:
    assert {page.name for page in PAGES} == set(re.findall(r"\(docs/design/(\w+\.md)\)", MAP))


def test_the_picture_of_the_floors_is_that_of_the_import_contract() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "floors_picture.py"), "--check"], check=False)
    assert done.returncode == 0
