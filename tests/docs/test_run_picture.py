"""The picture of a run in the README shows what a run really prints."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from .story import ROOT

PICTURE = ROOT / "docs" / "run.svg"


@pytest.mark.slow
def test_the_picture_of_a_run_shows_what_a_run_prints_today() -> None:
    script = [sys.executable, str(ROOT / "docs" / "run_picture.py"), "--check"]
    check = subprocess.run(script, capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


def test_the_picture_of_a_run_loads_nothing_from_the_network() -> None:
    svg = PICTURE.read_text(encoding="utf-8")
    assert set(re.findall(r"https?:[^\s\"')]+", svg)) == {"http://www.w3.org/2000/svg"}  # the format's own name
    assert "@import" not in svg


def test_the_readme_shows_the_picture_of_a_run() -> None:
    assert "(docs/run.svg)" in (ROOT / "README.md").read_text(encoding="utf-8")
