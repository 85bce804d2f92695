"""The quick comparison of a place says what a whole look at it says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.files.survey import is_as_before, survey_place

KINDS: dict[str, Callable[[Path], object]] = {
    "nothing": lambda place: None,
    "a file": lambda place: place.write_text("one"),
    "an empty directory": lambda place: place.mkdir(),
    "a directory with a file": lambda place: (place.mkdir(), (place / "inner").write_text("one")),
    "a link to nothing": lambda place: place.symlink_to("nowhere"),
    "a link to a file": lambda place: (place.with_name("target").write_text("one"), place.symlink_to("target")),
    "a link to a directory": lambda place: (place.with_name("other").mkdir(), place.symlink_to("other")),
}  # fmt: skip


def remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


@pytest.mark.parametrize("now", KINDS)
@pytest.mark.parametrize("before", KINDS)
def test_comparison_is_that_of_a_survey(tmp_path: Path, before: str, now: str) -> None:
    place = tmp_path / "place"
    KINDS[before](place)
    surveyed = survey_place(str(place))
    assert is_as_before(str(place), surveyed)
    for path in tmp_path.iterdir():
        remove(path)
    KINDS[now](place)
    assert is_as_before(str(place), surveyed) == (survey_place(str(place)) == surveyed)


@pytest.mark.parametrize("kind", ["a file", "a directory with a file", "a link to a file"])
def test_changed_content_of_the_same_size_and_time_is_noticed(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    KINDS[kind](place)
    surveyed = survey_place(str(place))
    file = place / "inner" if place.is_dir() else place
    own = file.stat()
    file.write_text("two")
    os.utime(file, ns=(own.st_atime_ns, own.st_mtime_ns))
    assert not is_as_before(str(place), surveyed)


def test_place_below_a_file_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = str(tmp_path / "file" / "below")
    assert is_as_before(place, survey_place(place))
