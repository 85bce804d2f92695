"""Planted failures with real runners: an honest attempt turns red, one that disarmed its checks stays green."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.evidence.plant.cheats import CHEATS, Cheat
from tests.evidence.plant.honest_commands import HONEST, HonestCommand
from tests.evidence.plant.projects import PROJECTS
from tests.evidence.plant.runners import Judged, SampleProject
from tests.length import sample

from samuel.evidence.plant.narrowing import narrowed

pytestmark = pytest.mark.slow
RENAMED = "from shop import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
KNOWN_RUNNERS = [name for name, project in PROJECTS.items() if project.calls is None]
NAMES_ITS_FILES = ("unittest file", "minitest", "junit 4", "testng")


def judged(project: SampleProject, changes: dict[str, str | None], directory: Path) -> Judged:
    if project.missing:
        pytest.skip(f"`{project.missing}` is not installed")
    attempt = Judged(project, changes, directory)
    assert attempt.before.passed, attempt.before.output
    return attempt


@pytest.mark.parametrize("name", PROJECTS)
def test_check_of_an_honest_attempt_turns_red(name: str, tmp_path: Path) -> None:
    attempt = judged(PROJECTS[name], {}, tmp_path)
    verdict = attempt.first()
    assert verdict.outcome == "shown_to_fail", (verdict, attempt.after.output)


@pytest.mark.parametrize("name", sample(KNOWN_RUNNERS, every=4))
@pytest.mark.parametrize("kind", ["new file", "changed expectation"])
def test_every_other_plant_is_shown_or_says_nothing(name: str, kind: str, tmp_path: Path) -> None:
    attempt = judged(PROJECTS[name], {}, tmp_path)
    if not any(plant.kind == kind for plant in attempt.plants()):
        pytest.skip("no plant of this kind")
    expected = "not_shown" if kind == "new file" and name in NAMES_ITS_FILES else "shown_to_fail"
    assert attempt.first(kind).outcome == expected, (attempt.plant, attempt.after.output)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "pytest",
            {
                "shop.py": "def add(a, b):\n    return a + b\n",
                "tests/test_shop.py": RENAMED,
                "tests/test_other.py": None,
            },
        ),
        ("unittest", {"shop.py": "# adds\ndef total(a, b):\n    return a + b\n"}),
        ("mocha", {".mocharc.json": '{"bail": true}\n', "cart.js": "exports.total = (a, b) => b + a;\n"}),
        ("cargo", {"src/lib.rs": "/// Adds.\npub fn total(a: i32, b: i32) -> i32 {\n    b + a\n}\n"}),
    ],
)
def test_honest_change_of_source_tests_and_settings_is_shown(
    name: str, changes: dict[str, str | None], tmp_path: Path
) -> None:
    attempt = judged(PROJECTS[name], changes, tmp_path)
    assert attempt.first().outcome == "shown_to_fail", attempt.after.output


@pytest.mark.parametrize("name", ["pytest", "jest", "vitest", "mocha", "ava", "node cjs", "cargo", "go", "rspec"])
def test_narrowed_command_runs_the_planted_file_alone(name: str, tmp_path: Path) -> None:
    project = PROJECTS[name]
    attempt = judged(project, {}, tmp_path)
    planted = next(attempt.plants())
    command = narrowed(project.command, planted)
    assert command not in (None, project.command)
    alone = Judged(replace(project, command=str(command)), {}, tmp_path)
    assert alone.verdict(planted).outcome == "shown_to_fail"
    others = {Path(path).name for path in project.files if "test" in path} - {Path(planted.sibling).name}
    assert not any(name in alone.after.output for name in others), alone.after.output


@pytest.mark.parametrize("row", sample(HONEST, every=3), ids=lambda row: row.command)
def test_honest_command_that_leaves_tests_out_never_looks_disarmed(row: HonestCommand, tmp_path: Path) -> None:
    project = PROJECTS[row.project]
    call = project.call._replace(arguments=row.arguments)
    attempt = judged(replace(project, command=row.command, call=call), {}, tmp_path)
    outcomes = [attempt.verdict(plant).outcome for plant in attempt.plants() if plant.kind == "added test"]
    assert "disarmed" not in outcomes, attempt.after.output
    assert row.outcome in outcomes, attempt.after.output


@pytest.mark.parametrize("cheat", sample(CHEATS, every=3), ids=lambda cheat: f"{cheat.project}: {cheat.trick}")
def test_attempt_that_disarmed_its_check_is_recognised(cheat: Cheat, tmp_path: Path) -> None:
    attempt = judged(PROJECTS[cheat.project], dict(cheat.changes), tmp_path)
    verdict = attempt.any()
    assert verdict.outcome == "disarmed", (attempt.tried, attempt.after.output)
