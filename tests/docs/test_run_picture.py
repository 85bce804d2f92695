"""The picture of a run in the README shows what a run really prints."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from samuel.watch.board_lines import KEYS

from .story import ROOT

PICTURE = ROOT / "docs" / "run.svg"


@pytest.mark.slow
def test_the_picture_of_a_run_shows_what_a_run_prints_today() -> None:
    script = [sys.executable, str(ROOT / "docs" / "run_picture.py"), "--check"]
    check = subprocess.run(script, capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


@pytest.mark.slow
def test_the_demo_ends_as_the_picture_does_and_names_the_report(tmp_path: Path) -> None:
    script = f"import demo, pathlib; demo.main(pathlib.Path({str(tmp_path / 'demo')!r}))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT / "examples",
        env={**os.environ, "SAMUEL_SERVE": "off"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    start, _, end = run.stdout.partition("$ git log --format=%s --reverse\n")
    log, _, last = end.partition("\n\n")
    assert log.splitlines() == [
        *("Start the project", "1.1 Slugs", "1.2 Word counts", "2.1 Title case", "2.2 Command line"),
        "3.1 Say how to use it",
    ]
    drawn = html.unescape(PICTURE.read_text(encoding="utf-8")).replace("\xa0", " ")
    assert [subject for subject in log.splitlines() if subject not in drawn] == []
    report = re.search(r"The report of the run: +(\S+)", last)
    assert report
    assert (tmp_path / report[1]).exists()
    assert "HANDLER" not in start  # the table of `--profile`


@pytest.mark.parametrize("name", ["run.svg", "watch.svg"])
def test_the_picture_of_a_run_loads_nothing_from_the_network(name: str) -> None:
    svg = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert set(re.findall(r"https?:[^\s\"')]+", svg)) == {"http://www.w3.org/2000/svg"}  # the format's own name
    assert "@import" not in svg


def test_the_readme_shows_a_report_and_a_run_before_it_explains_anything() -> None:
    before_the_text = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    pictures = re.findall(r'<a href="([^"]+)"><img src="([^"]+)"', before_the_text)
    assert pictures == [("docs/sample-report.html", "docs/report.png"), ("docs/run.svg", "docs/run.svg")]


def test_the_picture_of_a_report_is_small_enough_for_a_page() -> None:
    picture = ROOT / "docs" / "report.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 300_000


def test_the_picture_of_the_view_has_all_parts_and_keys_of_the_view() -> None:
    drawn = html.unescape((ROOT / "docs" / "watch.svg").read_text(encoding="utf-8")).replace("\xa0", " ")
    parts = ("needs you (1)", "tasks (6)", "2 attempts", "hooks, 1 denial", "denied", "$20.00", "  ".join(KEYS))
    assert [part for part in parts if part not in drawn] == []
