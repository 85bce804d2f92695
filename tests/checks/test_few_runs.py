"""Which runs of the check a judgement takes: the whole check as rarely as possible, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cheats.judged import JudgedProject
from tests.cheats.projects import PYTEST
from tests.conftest import plain_git

from samuel.events.loop import CheckRun
from samuel.evidence.corner import Corner
from samuel.tasks.task import Task

TASK = Task(id="1", title="Fix size: negative numbers are invalid", kind="fix")
EVIDENCE = '\n\ndef test_invalid():\n    assert size(-4) == "invalid"\n'


class CountedProject(JudgedProject):
    """A project that remembers each run as its corner, with `part` for one of a few test files."""

    runs: list[str]

    def command(self, command: str, corner: Corner, line: str = "") -> CheckRun:
        if hasattr(self, "runs"):
            self.runs.append(f"{corner}, part" if line else corner)
        return super().command(command, corner, line)


@pytest.fixture
def project(tmp_path: Path) -> CountedProject:
    root = tmp_path / "project" / "shop"
    others = {f"tests/test_part{number}.py": "def test_part():\n    pass\n" for number in range(6)}
    for name, text in {**PYTEST.files, **others, "version.py": 'VERSION = "1.2"\n'}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = plain_git(root.parent)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    counted = CountedProject(root, root.parent / "own", [PYTEST.command], None)
    counted.begin()
    counted.runs = []
    return counted


def solve(root: Path) -> None:
    (root / PYTEST.source).write_text(PYTEST.solved_source())
    (root / PYTEST.tests).write_text(PYTEST.text(PYTEST.tests) + EVIDENCE)


def replace(path: str, old: str, new: str) -> Callable[[Path], None]:
    def act(root: Path) -> None:
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new))

    return act


def test_proof_takes_two_runs_of_the_whole_check_and_the_planted_run_repeats_it(project: CountedProject) -> None:
    assert project.claim(TASK, solve, "ask").word == "proven"
    assert sorted(project.runs) == [
        "old source again, part",
        "old source, part",
        "old tests",
        "own",
        "planted, part",
    ]


def test_attempt_that_is_claimed_again_as_it_was_is_not_compared_again(project: CountedProject) -> None:
    def act(root: Path) -> None:
        (root / PYTEST.source).write_text(PYTEST.text(PYTEST.source) + "\n\nOTHER = object()\n")
        (root / PYTEST.tests).write_text(PYTEST.text(PYTEST.tests) + "\n\ndef test_more():\n    assert size(7)\n")

    assert project.claim(TASK, act, "ask").word == "checked"
    assert project.runs == ["own", "old tests", "old source, part", "own", "planted, part"]


def test_old_test_that_fails_alone_as_well_is_not_repeated_in_the_whole_check(project: CountedProject) -> None:
    def act(root: Path) -> None:
        (root / PYTEST.source).write_text(PYTEST.wrong_source())
        (root / PYTEST.tests).write_text(PYTEST.text(PYTEST.tests).replace("== 6", "== 9"))

    assert project.claim(TASK, act, "ask").word == "disputed"
    assert project.runs == ["own", "old tests", "old tests again, part", "own"]


def test_nothing_is_planted_where_only_numbers_changed(project: CountedProject) -> None:
    release = Task(id="1", title="Release 1.3", kind="chore")
    end = project.claim(release, replace("version.py", "1.2", "1.3"), "ask", "chore")
    assert (end.word, project.runs) == ("checked", ["own"])


def test_plant_runs_behind_the_tests_of_what_was_changed_and_not_in_the_whole_check(
    project: CountedProject,
) -> None:
    tidy = Task(id="1", title="Tidy", kind="refactor")
    end = project.claim(
        tidy, replace(PYTEST.source, "def twice(number)", "def twice(number, *_)"), "ask", "refactor"
    )
    assert (end.word, project.runs) == ("checked", ["own", "planted, part"])
    assert end.verdict.evidence is not None
    assert end.verdict.evidence.shown_to_fail == "yes"
