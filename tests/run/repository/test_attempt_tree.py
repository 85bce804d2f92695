"""The work tree of one attempt, as the iteration sees it: real git below a real project."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from tests.run.conftest import LoopProject

from samuel.attempt.attempt_tree import AttemptTree
from samuel.attempt.run_files import RunFiles
from samuel.attempt.stop import Stop
from samuel.attempt.workplace import Workplace
from samuel.history.notices import LoopWarning
from samuel.tasks.task import Task

TASK = Task(id="1", title="One")


class Project:
    def __init__(self, loop: LoopProject, place: Workplace) -> None:
        self.loop = loop
        self.place = place
        pinned = RunFiles.pinned(place, Stop())
        self.files = pinned.of_run(place, "run-1", pinned.attempts.state)
        self.files.attempts.begin()

    def attempt(self, task: Task | None = TASK, *commands: str) -> AttemptTree:
        tree = AttemptTree(self.place, self.files, task, commands)
        tree.start()
        return tree

    def write(self, name: str, text: str) -> None:
        (self.loop.root / name).write_text(text)

    def text(self, name: str) -> str | None:
        file = self.loop.root / name
        return file.read_text() if file.exists() else None

    def fail(self, tree: AttemptTree) -> None:
        """End an attempt that failed."""
        tree.observe()
        self.files.attempts.keep("1", 1)

    @property
    def warnings(self) -> list[str]:
        return [report.text for report in self.loop.reports if isinstance(report, LoopWarning)]


def commit(loop: LoopProject, **files: str) -> None:
    for name, text in files.items():
        (loop.root / name.replace("_", ".")).write_text(text)
    for arguments in (["add", "-A"], ["commit", "-q", "-m", "files"]):
        subprocess.run(["git", *arguments], cwd=loop.root, check=True, capture_output=True)


@pytest.fixture
def settings() -> str:
    return ""


@pytest.fixture
def project(loop: LoopProject, settings: str) -> Iterator[Project]:
    loop.configure(settings)
    commit(loop, code_txt="code\n", check_sh="true\n", mine_txt="mine\n")
    (loop.root / "mine.txt").write_text("changed by a person\n")
    with loop.open() as app:
        yield Project(loop, app.workplace)


def test_what_the_agent_changed_is_listed_with_its_lines(project: Project) -> None:
    tree = project.attempt()
    assert (tree.changed_files, tree.changes) == ((), None)
    project.write("code.txt", "code\nmore\n")
    project.write("new.txt", "new\n")
    tree.observe()
    assert [(file.path, file.added, file.removed) for file in tree.changed_files] == [
        ("code.txt", 1, 0),
        ("new.txt", 1, 0),
    ]
    assert tree.has_changes(["code.txt", "new.txt"])
    assert project.warnings == []


def test_an_agent_that_changed_nothing_has_no_changes(project: Project) -> None:
    tree = project.attempt()
    tree.observe()
    assert (tree.changed_files, tree.has_changes([])) == ((), False)


def test_the_changes_of_an_earlier_attempt_count(project: Project) -> None:
    first = project.attempt()
    project.write("new.txt", "new\n")
    project.fail(first)
    second = project.attempt()
    second.observe()
    assert [file.path for file in second.changed_files] == ["new.txt"]
    assert second.has_changes([])


def test_a_change_of_a_persons_file_is_named_and_not_counted(project: Project) -> None:
    tree = project.attempt()
    project.write("mine.txt", "changed by the agent\n")
    tree.observe()
    assert tree.changed_files == ()
    assert project.warnings == [
        "the agent changed what you had changed before the run; that is left as it is: `mine.txt`; "
        "`git restore --source=refs/samuel/run-1/person -- PATH` gives yours back"
    ]


def test_what_the_checks_wrote_is_the_attempts(project: Project) -> None:
    tree = project.attempt()
    project.write("new.txt", "new\n")
    tree.observe()
    project.write("formatted.txt", "by a check\n")
    tree.observe_checks({"mine-too.txt": b"by a check in a clean room\n"})
    assert project.text("mine-too.txt") == "by a check in a clean room\n"
    project.files.attempts.put_away("1", 1)
    assert (project.text("new.txt"), project.text("formatted.txt")) == (None, None)
    assert project.text("mine.txt") == "changed by a person\n"


def test_a_retry_goes_on_with_its_tests_but_with_the_settings_of_the_checks_as_they_were(project: Project) -> None:
    (project.loop.root / "tests").mkdir()
    project.write("tests/check.sh", "true\n")
    commit(project.loop, Makefile="test:\n\tsh tests/check.sh\n")
    project.files.attempts.begin()
    first = project.attempt(TASK, "make test")
    project.write("code.txt", "half\n")
    project.write("tests/check.sh", "weaker\n")
    project.write("Makefile", "test:\n\ttrue\n")
    project.fail(first)
    project.attempt(TASK, "make test")
    assert (project.text("code.txt"), project.text("tests/check.sh")) == ("half\n", "weaker\n")
    assert project.text("Makefile") == "test:\n\tsh tests/check.sh\n"


def test_a_retry_keeps_the_files_of_the_checks_that_its_task_names(project: Project) -> None:
    task = Task(id="1", title="One", files_to_modify=("check.sh",))
    first = project.attempt(task, "sh check.sh")
    project.write("check.sh", "stricter\n")
    project.fail(first)
    project.attempt(task, "sh check.sh")
    assert project.text("check.sh") == "stricter\n"


@pytest.mark.parametrize("settings", ['protect = ["code.txt"]'])
def test_a_retry_begins_with_protected_files_as_they_were(project: Project) -> None:
    first = project.attempt()
    project.write("code.txt", "changed\n")
    project.write("new.txt", "new\n")
    project.fail(first)
    project.attempt()
    assert (project.text("code.txt"), project.text("new.txt")) == ("code\n", "new\n")


@pytest.mark.parametrize("settings", ['retry = "fresh"'])
def test_a_fresh_retry_starts_without_the_changes_and_can_read_them(project: Project) -> None:
    first = project.attempt()
    assert first.last_changes() is None
    project.write("code.txt", "half\n")
    project.fail(first)
    second = project.attempt()
    assert project.text("code.txt") == "code\n"
    last = second.last_changes()
    assert last is not None
    assert last.files == ("code.txt",)
    assert b"+half" in last.patch


def test_a_retry_that_goes_on_has_nothing_to_read(project: Project) -> None:
    first = project.attempt()
    project.write("code.txt", "half\n")
    project.fail(first)
    assert project.attempt().last_changes() is None


def test_another_task_begins_without_what_the_first_one_left(project: Project) -> None:
    first = project.attempt()
    project.write("code.txt", "half\n")
    project.fail(first)
    project.attempt(Task(id="2", title="Two"))
    assert project.text("code.txt") == "code\n"
    project.attempt()
    assert project.text("code.txt") == "half\n"
