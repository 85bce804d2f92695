"""An agent that puts a link, a pipe or a directory in the place of a state file loses one iteration only."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.length import combined

from samuel.history.notices import BaselineChecked, IterationFailed, IterationSettled
from samuel.history.state_files import misplaced, put_right

from .conftest import GOOD, LoopProject

FILES = ("prd.toon", "run.json", "progress.md", "summary.md", "state.lock", "logs/agent.log")
DIRECTORIES = ("logs", "extra", "spool", "journal", "sessions", "prompts", "bin", "archive")
REPLACED = {
    "link": 'ln -s "$AWAY" {name}',
    "pipe": "mkfifo {name}",
    "directory": "mkdir {name}",
    "file": "echo x > {name}",
}
PIPE = "rm -rf .samuel/run/progress.md; mkfifo .samuel/run/progress.md"


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def why(loop: LoopProject) -> str:
    return "\n".join(report.why for report in loop.reports if isinstance(report, IterationFailed))


def once(name: str, kind: str, away: Path) -> str:
    """What the agent does in its first iteration."""
    replace = REPLACED[kind].format(name=name)
    return (
        f"if [ $SAMUEL_ITERATION = 1 ]; then (AWAY={away}; cd .samuel/run; rm -rf {name}; {replace})\n"
        "else\n" + GOOD + "fi\n"
    )


@pytest.mark.parametrize(("name", "kind"), combined(FILES, ["link", "pipe", "directory"]))
@pytest.mark.sampled(every=2)
def test_a_state_file_that_an_agent_replaced_is_moved_aside(
    loop: LoopProject, tmp_path: Path, name: str, kind: str
) -> None:
    away = tmp_path / "away"
    away.write_text("mine\n")
    loop.tasks("1", "2")
    loop.agent(once(name, kind, away))
    run = loop.run()
    assert (run.exit_reason, outcomes(loop)) == ("queue_empty", ["aborted", "completed", "completed"])
    assert f"`.samuel/run/{name}` became a" in why(loop)
    assert f"it was moved to `.samuel/run/aside/{Path(name).name}.1`" in why(loop)
    assert away.read_text() == "mine\n"


@pytest.mark.parametrize(("name", "kind"), combined(DIRECTORIES, ["link", "pipe", "file"]))
@pytest.mark.sampled(every=2)
def test_a_state_directory_that_an_agent_replaced_is_moved_aside(
    loop: LoopProject, tmp_path: Path, name: str, kind: str
) -> None:
    away = tmp_path / "away"
    away.mkdir()
    loop.tasks("1")
    loop.agent(once(name, kind, away))
    run = loop.run()
    assert (run.exit_reason, outcomes(loop)) == ("queue_empty", ["aborted", "completed"])
    assert f"`.samuel/run/{name}` became a" in why(loop)
    assert list(away.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "outcome"),
    [
        ("rm -rf .samuel/run", "stalled"),
        ('rm -rf .samuel/run; ln -s "$AWAY" .samuel/run', "aborted"),
        ("rm -rf .samuel/run; mkfifo .samuel/run", "aborted"),
    ],
)
def test_the_state_directory_itself_is_restored(
    loop: LoopProject, tmp_path: Path, what: str, outcome: str
) -> None:
    away = tmp_path / "away"
    away.mkdir()
    loop.tasks("1", "2")
    loop.agent(f"if [ $SAMUEL_ITERATION = 1 ]; then AWAY={away}; {what}\nelse\n{GOOD}fi\n")
    run = loop.run()
    assert (run.exit_reason, outcomes(loop)) == ("queue_empty", [outcome, "completed", "completed"])
    assert list(away.iterdir()) == []


@pytest.mark.slow
def test_a_check_that_replaces_a_state_file_aborts_the_iteration(loop: LoopProject) -> None:
    once = "test ! -f work-1.txt || test -f done-once || { touch done-once; REPLACE; }"
    loop.configure(f'evidence = "in place"\nquality_checks = ["{once.replace("REPLACE", PIPE)}"]')
    loop.tasks("1")
    assert loop.run().exit_reason == "queue_empty"
    assert outcomes(loop) == ["aborted", "completed"]
    assert "a check replaced files of the run's state: `.samuel/run/progress.md` became a named pipe" in why(loop)


def test_a_check_that_replaces_a_state_file_before_the_first_agent_ends_the_run(loop: LoopProject) -> None:
    loop.configure(f'evidence = "in place"\nquality_checks = ["{PIPE}"]')
    loop.tasks("1")
    assert loop.run().exit_reason == "baseline_failed"
    (baseline,) = [report for report in loop.reports if isinstance(report, BaselineChecked)]
    assert "a check replaced files of the run's state" in baseline.failing[0]
    assert outcomes(loop) == []


def test_a_file_that_was_misplaced_before_the_run_aborts_nothing(loop: LoopProject) -> None:
    loop.tasks("1")
    (loop.root / ".samuel/run/sessions").write_text("in the way")
    assert loop.run().exit_reason == "queue_empty"
    assert outcomes(loop) == ["completed"]


def test_the_files_of_plugins_may_be_of_any_kind(tmp_path: Path) -> None:
    state = tmp_path / ".samuel/run"
    (state / "plugins/mine").mkdir(parents=True)
    (state / "plugins/mine/link").symlink_to("elsewhere")
    assert misplaced(tmp_path, state) == set()
    assert put_right(tmp_path, state) == []


@pytest.mark.parametrize("folder", ["logs", "prompts", "reports"])
def test_a_directory_of_a_run_is_in_its_place_and_only_files_are_in_it(tmp_path: Path, folder: str) -> None:
    state = tmp_path / ".samuel/run"
    (state / folder / "run-1").mkdir(parents=True)
    (state / folder / "run-2/deeper").mkdir(parents=True)
    (state / folder / "run-2/file").write_text("x")
    (state / folder / "run-3.log").mkdir()
    (state / folder / "run-4").symlink_to(tmp_path)
    names = {str(path.relative_to(state)) for path in misplaced(tmp_path, state)}
    assert names == {f"{folder}/run-2/deeper", f"{folder}/run-3.log", f"{folder}/run-4"}
    assert len(put_right(tmp_path, state)) == 3
    assert misplaced(tmp_path, state) == set()


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_an_agent_that_replaces_a_log_of_its_run_loses_one_iteration_only(
    loop: LoopProject, tmp_path: Path, kind: str
) -> None:
    away = tmp_path / "away"
    away.write_text("mine\n")
    loop.tasks("1")
    loop.agent(once("logs/$SAMUEL_RUN_ID/iteration-0001-checks.log", kind, away))
    run = loop.run()
    assert (run.exit_reason, outcomes(loop)) == ("queue_empty", ["aborted", "completed"])
    assert "iteration-0001-checks.log` became a" in why(loop)
    assert away.read_text() == "mine\n"
