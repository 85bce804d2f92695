"""Which tests a task may change, by its `Files:` and by its words."""

from __future__ import annotations

import pytest

from samuel.evidence.ownership import ALL_TESTS, owned_tests
from samuel.tasks.task import Task

FILES = (
    "Makefile",
    "cart.py",
    "tests/test_cart.py",
    "tests/unit/test_names.py",
    "test_inflection.py",
    "docs/a.md",
)


def task(title: str, description: str = "", **fields: object) -> Task:
    return Task(id="4", title=title, description=description, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "description", "reason"),
    [
        ("Rename clamp to clip", "", 'it renames something ("Rename")'),
        ("Move the parser to a module of its own", "", 'it moves something ("Move the parser to")'),
        ("Merge both caches into one", "", "it moves something"),
        ("Clip", "Tests need to be adapted!", 'it says that tests change ("Tests need to be adapted")'),
        ("Delete boltons/namedutils.py and its tests", "", "it removes tests"),
        ("Remove the legacy exporter together with its unit tests", "", "it removes tests"),
        ("Remove obsolete tests of the old parser", "", "it removes tests"),
        ("Titles", "Then update the snapshot.", 'it updates snapshots ("update the snapshot")'),
        ("New header", "regenerate the golden files", "it updates snapshots"),
        ("Sums", "The test is wrong, fix both", 'it says that a test is wrong ("test is wrong")'),
        ("Sums", "There is an outdated test for this.", "it says that a test is wrong"),
        ("Round half up", "Change the tests accordingly", "it says that tests change"),
        ("Round half up", "Update code and adapt its tests.", "it says that tests change"),
        ("Round half up", "The existing tests should be updated", "it says that tests change"),
        ("Refactor the tests of the cart", "", "it says that tests change"),
        ("Clip", "This works by renaming clamp.", "it renames something"),
    ],
)
def test_plain_words_give_a_task_its_tests(title: str, description: str, reason: str) -> None:
    owned = owned_tests(task(title, description), FILES)
    assert owned.patterns == (ALL_TESTS,)
    assert reason in owned.describe("4")
    assert owned.of(FILES) == ("tests/test_cart.py", "tests/unit/test_names.py", "test_inflection.py")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Plurals: see `test_inflection.py`", ("test_inflection.py",)),
        ("Plurals in tests/test_cart.py.", ("tests/test_cart.py",)),
        ("Plurals in ./tests/test_cart.py, and test_names.py", ("tests/test_cart.py", "tests/unit/test_names.py")),
        ("Everything below tests/unit/ may go", ("tests/unit/test_names.py",)),
    ],
)
def test_a_test_file_that_the_text_names_is_the_tasks_own(text: str, names: tuple[str, ...]) -> None:
    owned = owned_tests(task(text), FILES)
    assert owned.of(FILES) == names
    files = ", ".join(f"`{pattern[1:]}`" for pattern in owned.patterns)
    which = "it" if len(owned.patterns) == 1 else "them"
    assert owned.describe("4") == f"task 4 may change {files}, because its text names {which}"


def test_acceptance_criteria_count_as_the_tasks_words() -> None:
    assert owned_tests(
        task("Headers", acceptance=("the snapshots are updated", "update the snapshots")), FILES
    ).reasons


@pytest.mark.parametrize(
    ("title", "description"),
    [
        ("Add a test for totals", ""),
        ("Fix the rounding of totals", "All tests must pass."),
        ("Fix the rounding", "Do not change the tests."),
        ("Fix the rounding", "without changing any test"),
        ("Fix the rounding", "Never update the snapshot"),
        ("Fix the rounding", "don't touch tests/test_cart.py"),
        ("Write tests for the cart", "Tests should cover empty carts"),
        ("Support snapshots", "store a snapshot of the volume"),
        ("Make the tests pass", ""),
        ("Fix the contest page", "see docs/a.md and cart.py"),
        ("Remove the banner", ""),
        ("Fix: the report hides a changed test", ""),
        ("Show which agent edits tests", "A test may have been changed by it."),
        ("Refuse work that changes tests", ""),
        ("Warn when an attempt deletes tests", ""),
        ("List updated tests in the report", ""),
        ("Support renaming files", ""),
        ("Allow users to rename files", "They can copy and rename them, and can move a file to a directory."),
        ("Add a rename command", "A renamed file keeps its history."),
        ("Fix rename of links", ""),
        ("Fix moves of a file into a directory", ""),
        ("Say when a test is wrong", ""),
        ("Keep obsolete tests out of the list", ""),
        ("Show how a snapshot was updated", ""),
    ],
)
def test_other_tasks_own_no_test(title: str, description: str) -> None:
    owned = owned_tests(task(title, description), FILES)
    assert owned.of(FILES) == ()
    assert owned.describe("4") == ""


def test_files_that_name_a_test_are_all_that_the_task_owns() -> None:
    owned = owned_tests(task("Rename it", files_to_modify=("./tests/unit/", "cart.py")), FILES)
    assert owned.of(FILES) == ("cart.py", "tests/unit/test_names.py")
    assert owned.describe("4") == ""


def test_files_without_a_test_leave_the_words_to_decide() -> None:
    owned = owned_tests(task("Rename it", files_to_modify=("cart.py",)), FILES)
    assert owned.of(FILES) == ("cart.py", "tests/test_cart.py", "tests/unit/test_names.py", "test_inflection.py")


@pytest.mark.parametrize(
    "text", ["tests " * 5000, "remove " * 5000, "a" * 10**6, "test is " * 5000, "update the " * 5000, "`" * 10**5]
)
def test_hostile_texts_are_answered(text: str) -> None:
    owned_tests(task(text, text), FILES)
