"""Tasks that seem to change tests without naming them, as `samuel run init` warns about them."""

from __future__ import annotations

import pytest

from samuel.checks.tests_of_tasks import warnings_about_tests
from samuel.tasks.task import Task

FILES = ("Makefile", "tests/test_cart.py", "tests/unit/test_names.py", "test_inflection.py")


@pytest.mark.parametrize(
    ("title", "description", "words"),
    [
        ("Rename clamp to clip", "", 'says "Rename"'),
        ("Clip", "Tests need to be adapted!", 'says "Tests need to be adapted"'),
        ("Remove boltons/namedutils.py and its tests", "", 'says "Remove boltons/namedutils.py and its tests"'),
        ("Titles", "Then update the snapshot.", 'says "update the snapshot"'),
        ("Sums", "The test is wrong, fix both", 'says "test is wrong"'),
        ("Plurals", "see `test_inflection.py`", "names `test_inflection.py`"),
    ],
)
def test_a_task_that_says_that_tests_change_is_told_the_line_to_add(
    title: str, description: str, words: str
) -> None:
    (warning,) = warnings_about_tests([Task(id="4", title=title, description=description)], FILES)
    files = "test_inflection.py" if words.startswith("names") else "tests/, test_inflection.py"
    assert warning == (
        f"task 4 {words}: an attempt that changes a test is refused unless its task names it; if this one may, "
        f"add `Files: {files}` below it and read it again"
    )


@pytest.mark.parametrize(
    ("task", "files"),
    [
        (Task(id="1", title="Add a test for totals"), FILES),
        (Task(id="1", title="Fix the rounding of totals"), FILES),
        (Task(id="1", title="Rename it", files_to_modify=("tests/",)), FILES),
        (Task(id="1", title="Rename it", status="completed"), FILES),
        (Task(id="1", title="Rename it"), ("Makefile",)),
    ],
)
def test_other_tasks_are_not_warned_about(task: Task, files: tuple[str, ...]) -> None:
    assert warnings_about_tests([task], files) == []
