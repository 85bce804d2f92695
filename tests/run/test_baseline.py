"""The checks before the first agent."""

from __future__ import annotations

import sys

import pytest

from samuel.history.history import History
from samuel.history.notices import BaselineChecked, IterationSettled
from samuel.history.run import Run

from .conftest import GOOD, LoopProject

# In place, where a check can count its runs in a file that git ignores.
CHECK = 'evidence = "in place"\nquality_checks = ["echo ran >> ran; test ! -f red"]'


@pytest.fixture
def counted(loop: LoopProject) -> LoopProject:
    """A project that counts how often its check ran, where git does not look."""
    with (loop.root / ".gitignore").open("a") as file:
        file.write("ran\nred\n")
    loop.configure(CHECK)
    loop.tasks("1")
    return loop


def runs_of_the_check(loop: LoopProject) -> int:
    file = loop.root / "ran"
    return len(file.read_text().splitlines()) if file.exists() else 0


def baselines(loop: LoopProject) -> list[BaselineChecked]:
    return [report for report in loop.reports if isinstance(report, BaselineChecked)]


def outcomes(loop: LoopProject) -> list[str]:
    return [report.outcome for report in loop.reports if isinstance(report, IterationSettled)]


def recorded(loop: LoopProject, run: Run) -> list[bool]:
    """What the history says about the baseline of a run."""
    with loop.open() as app:
        history = History.of(loop.root / ".samuel/run", app.user.record(loop.root / ".samuel/run"))
    return [check.passed for check in history.load(run.run_id).run.baseline]


def test_a_red_check_ends_the_run_before_any_agent_starts(counted: LoopProject) -> None:
    (counted.root / "red").touch()
    run = counted.run()
    assert (run.exit_reason, run.exit_code, run.iterations_run) == ("baseline_failed", 1, 0)
    assert "the checks fail before any agent has worked" in run.exit_message
    assert not (counted.root / "seen-1.md").exists()
    assert counted.statuses() == {"1": "pending"}
    assert [report.accepted for report in baselines(counted)] == [False]
    assert recorded(counted, run) == [False]


def test_without_a_handler_no_baseline_is_reported(counted: LoopProject) -> None:
    counted.configure(CHECK, '[hooks."quality.check"]\nhandlers = []\n')
    assert counted.run().exit_reason == "queue_empty"
    assert (baselines(counted), runs_of_the_check(counted)) == ([], 0)


@pytest.mark.slow
def test_a_green_check_runs_once_before_the_first_task_and_once_for_each(counted: LoopProject) -> None:
    counted.tasks("1", "2")
    run = counted.run()
    assert run.exit_reason == "queue_empty"
    assert runs_of_the_check(counted) == 3
    assert [report.failing for report in baselines(counted)] == [()]
    assert recorded(counted, run) == [True]


def test_an_accepted_failure_does_not_count_against_a_task(counted: LoopProject) -> None:
    counted.configure(f'{CHECK}\nbaseline = "accept"')
    (counted.root / "red").touch()
    assert counted.run().exit_reason == "queue_empty"
    assert [(report.accepted, len(report.failing)) for report in baselines(counted)] == [(True, 1)]


@pytest.mark.slow
def test_a_failure_that_a_task_has_put_right_counts_for_the_next_one(counted: LoopProject) -> None:
    counted.configure(f'{CHECK}\nbaseline = "accept"\nmax_task_attempts = 1')
    counted.tasks("1", "2")
    (counted.root / "red").touch()
    counted.agent('if [ "$SAMUEL_TASK_ID" = 1 ]; then rm red; else touch red; fi\n' + GOOD)
    counted.run()
    assert outcomes(counted) == ["completed", "quality_failed"]


def test_what_a_handler_finds_wrong_is_part_of_the_baseline(counted: LoopProject) -> None:
    counted.configure(CHECK, '[hooks."quality.check"]\nhandlers = ["default", "mine"]\n')
    import samuel

    @samuel.hook("quality.check")
    def mine(event: object) -> dict[str, object]:
        return {"ok": False, "failures": [{"source": "mine", "message": "no licence"}]}

    assert counted.run(handlers=[mine]).exit_reason == "baseline_failed"
    assert [report.failing for report in baselines(counted)] == [("no licence",)]


def test_a_project_without_checks_has_no_baseline(loop: LoopProject) -> None:
    loop.tasks("1")
    assert loop.run().exit_reason == "queue_empty"
    assert baselines(loop) == []


def test_nothing_is_checked_if_there_is_nothing_to_do(counted: LoopProject) -> None:
    counted.tasks("1", status="completed")
    assert counted.run().exit_reason == "queue_empty"
    assert runs_of_the_check(counted) == 0


@pytest.mark.parametrize("command", ["no-such-program -q", "make test", "./plain.txt"])
def test_a_check_that_cannot_run_is_never_accepted(loop: LoopProject, command: str) -> None:
    (loop.root / "Makefile").write_text("test:\n\t@no-such-program -q\n")
    (loop.root / "plain.txt").write_text("no program\n")
    loop.configure(f'quality_checks = ["{command}"]\nbaseline = "accept"')
    loop.tasks("1")
    run = loop.run()
    assert (run.exit_reason, run.iterations_run) == ("baseline_failed", 0)
    assert run.exit_message.startswith(f"`{command}` cannot run: the program is missing or may not be executed")
    (report,) = baselines(loop)
    assert (report.accepted, report.cannot_run) == (False, (command,))


def graded_after(loop: LoopProject, settings: str, agent: str, iterations: int = 10) -> tuple[str, str]:
    """How the only task ends under an accepted red baseline, and with which grade."""
    loop.configure(f'{settings}\nbaseline = "accept"\nmax_task_attempts = 1')
    loop.tasks("1")
    loop.agent(agent + GOOD)
    loop.run(iterations)
    (task,) = loop.store.load()
    return task.status, task.grade


def test_a_task_that_turned_nothing_green_is_unverified(counted: LoopProject) -> None:
    (counted.root / "red").touch()
    assert graded_after(counted, CHECK, "") == ("completed", "unverified")
    (settled,) = [report for report in counted.reports if isinstance(report, IterationSettled)]
    assert settled.still_red == ("echo ran >> ran; test ! -f red",)


def test_a_task_that_turned_a_red_check_green_is_checked(counted: LoopProject) -> None:
    (counted.root / "red").touch()
    assert graded_after(counted, CHECK, "rm red\n") == ("completed", "checked")


RED_TEST = "import pytest\nimport code_of_it\ndef test_a(): pass\ndef test_b(): assert code_of_it.VALUE == 2\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "ending"),
    [
        pytest.param("echo '# a comment' >> code_of_it.py\n", ("completed", "unverified"), id="a comment"),
        pytest.param("sed -i 's/^def test_b/@pytest.mark.skip\\n&/' test_it.py\n", ("waiting", ""), id="skipped"),
        pytest.param("sed -i 's/^def test_b/@pytest.mark.xfail\\n&/' test_it.py\n", ("waiting", ""), id="xfail"),
        pytest.param("sed -i '/test_b/d' test_it.py\n", ("waiting", ""), id="deleted"),
        pytest.param("echo 'VALUE = 2' > code_of_it.py\n", ("completed", "checked"), id="done"),
    ],
)
def test_only_work_that_turns_the_red_test_green_completes_a_task(
    loop: LoopProject, agent: str, ending: tuple[str, str]
) -> None:
    (loop.root / "test_it.py").write_text(RED_TEST)
    (loop.root / "code_of_it.py").write_text("VALUE = 1\n")
    (loop.root / ".gitignore").write_text("seen-*\nenv-*\n__pycache__\n")
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    assert graded_after(loop, f'quality_checks = ["{command}"]', agent, iterations=1) == ending


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "option"), [("junit_family = xunit2\n", ""), ("", " --junitxml=mine.xml")])
def test_a_test_broken_beside_an_accepted_one_is_a_failure_with_reports_of_the_project_too(
    loop: LoopProject, settings: str, option: str
) -> None:
    (loop.root / "pytest.ini").write_text(f"[pytest]\n{settings}")
    (loop.root / "test_it.py").write_text(
        "import code_of_it\ndef test_a(): assert code_of_it.VALUE == 1\ndef test_b(): assert 0\n"
    )
    (loop.root / "code_of_it.py").write_text("VALUE = 1\n")
    (loop.root / ".gitignore").write_text("seen-*\nenv-*\n__pycache__\nmine.xml\n")
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider{option}"
    graded_after(loop, f'quality_checks = ["{command}"]', "echo 'VALUE = 2' > code_of_it.py\n")
    assert outcomes(loop) == ["quality_failed"]


def test_a_check_that_fails_once_before_the_first_agent_is_flaky_and_no_baseline(loop: LoopProject) -> None:
    command = "echo ran >> ran; test $(wc -l < ran) -gt 1"
    (loop.root / ".gitignore").write_text("seen-*\nenv-*\nran\n")
    loop.configure(f'evidence = "in place"\nquality_checks = ["{command}"]')
    loop.tasks("1")
    assert loop.run().exit_reason == "queue_empty"
    assert [report.failing for report in baselines(loop)] == [()]


def test_a_failed_baseline_names_the_variables_that_checks_do_not_get(
    loop: LoopProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_HOME", "/opt/cargo-of-a-person")
    monkeypatch.setenv("SHOP_TEST_URL", "secret://of-a-person")
    monkeypatch.setenv("SHOP_OTHER", "not named by the check")
    loop.configure('quality_checks = ["echo SHOP_TEST_URL is not set; exit 1"]')
    loop.tasks("1")
    run = loop.run()
    (report,) = baselines(loop)
    assert {"CARGO_HOME", "SHOP_TEST_URL"} <= {*report.withheld}
    assert "SHOP_OTHER" not in report.withheld
    assert 'pass_env = ["CARGO_HOME", ' in run.exit_message
    assert "of-a-person" not in run.exit_message
    loop.project.config(f'pass_env = ["CARGO_HOME", "SHOP_TEST_URL"]\n{(loop.root / "samuel.toml").read_text()}')
    loop.reports.clear()
    loop.run()
    assert not {"CARGO_HOME", "SHOP_TEST_URL"} & {*baselines(loop)[0].withheld}
