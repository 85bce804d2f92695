"""What counts as done: checks that no agent can soften, a baseline, and an honest word where there is no check."""

from __future__ import annotations

import pytest
from tests.unattended.conftest import MakeProject
from tests.unattended.project import (
    CALC,
    MAKEFILE,
    NO_CHECKS,
    PRODUCT,
    PYTEST,
    PYTHON,
    TEST_CALC,
    UnattendedProject,
    do,
)

WRONG_CALC = "def add(a, b):\n    return a - b\n"
ALWAYS_TRUE = "import unittest\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        assert True\n"
NO_CHECK = "test:\n\t@true\n"
MORE_TESTS = TEST_CALC + "\n    def test_add_negative(self):\n        self.assertEqual(add(2, -3), -1)\n"
DONE = do(["solve"], ["claim"])


def only_attempt(project: UnattendedProject, task: str = "1") -> dict[str, object]:
    (attempt,) = project.attempts(task)
    return attempt


# Softened checks


@pytest.mark.parametrize(
    ("softened", "name"),
    [
        ([["write", "tests/test_calc.py", ALWAYS_TRUE]], "tests/test_calc.py"),
        ([["write", "Makefile", NO_CHECK]], "Makefile"),
        ([["delete", "tests/test_calc.py"]], "tests/test_calc.py"),
        ([["write", "tests/__init__.py", "import os\n\nos._exit(0)\n"]], "tests/__init__.py"),
    ],
    ids=["assert true", "makefile", "deleted test", "early exit"],
)
def test_work_that_is_green_only_with_softened_checks_fails(
    make_project: MakeProject, softened: list[list[str]], name: str
) -> None:
    # From Python 3.12 on, unittest fails where there is no test at all.
    project = make_project("Make it faster", files={"tests/test_other.py": ALWAYS_TRUE})
    project.plan("1", do(["write", "calc.py", WRONG_CALC], *softened, ["claim"]))

    screen = project.start("--iterations", "1", code=None).screen

    assert project.statuses() == {"1": "pending"}
    task = project.tasks()["1"]
    assert task["attempts"] == 1
    assert task["last_failure"].startswith("quality_failed")
    assert name in task["last_failure"]
    assert f"the attempt changed {name}: checking with the tests as they were, too" in screen
    attempt = only_attempt(project)
    assert attempt["outcome"] == "quality_failed"
    assert name in attempt["check_files"]


@pytest.mark.slow
def test_a_test_replaced_by_assert_true_and_an_emptied_target_together_never_complete_a_task(
    make_project: MakeProject,
) -> None:
    project = make_project("Make it faster", "Another")
    both = (["write", "tests/test_calc.py", ALWAYS_TRUE], ["write", "Makefile", NO_CHECK])
    project.plan("1", do(["write", "calc.py", WRONG_CALC], *both, ["claim"]))

    assert project.start(code=1).code == 1

    assert project.statuses() == {"1": "waiting", "2": "completed"}  # for a person: the agent insists
    assert project.status()["exit_reason"] == "waiting"
    for name in ("calc.py", "tests/test_calc.py", "Makefile"):
        assert project.read(name) == PRODUCT[name]
    failure = project.tasks()["1"]["last_failure"]
    assert "tests/test_calc.py" in failure
    assert "Makefile" in failure


@pytest.mark.slow
def test_runner_configuration_that_an_attempt_adds_does_not_soften_the_checks(make_project: MakeProject) -> None:
    project = make_project("Make it faster", checks=PYTEST)
    skip_all = (
        "collect_ignore_glob = ['test_*.py']\ndef pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    )
    project.plan("1", do(["write", "calc.py", WRONG_CALC], ["write", "tests/conftest.py", skip_all], ["claim"]))

    project.start("--iterations", "1", code=None)

    assert project.statuses() == {"1": "pending"}
    assert "passed, but no test ran" in project.tasks()["1"]["last_failure"]


@pytest.mark.slow
def test_honest_work_may_add_a_test_to_an_existing_file_and_the_change_is_in_the_record(
    make_project: MakeProject,
) -> None:
    project = make_project("Test negative numbers")
    project.plan("1", do(["write", "tests/test_calc.py", MORE_TESTS], ["claim"]))

    project.start()

    assert project.statuses() == {"1": "completed"}
    assert project.read("tests/test_calc.py") == MORE_TESTS
    assert only_attempt(project)["check_files"] == ["tests/test_calc.py"]
    assert "tests/test_calc.py" in project.samuel("run", "show", "1").out


@pytest.mark.slow
def test_what_a_completed_task_added_to_the_tests_holds_for_the_tasks_after_it(make_project: MakeProject) -> None:
    project = make_project("Test negative numbers", "Make it faster")
    project.plan("1", do(["write", "tests/test_calc.py", MORE_TESTS], ["claim"]))
    absolute = "def add(a, b):\n    return a + abs(b)\n"
    project.plan("2", do(["write", "calc.py", absolute], ["write", "tests/test_calc.py", TEST_CALC], ["claim"]))

    project.start("--iterations", "2", code=None)

    assert project.statuses() == {"1": "completed", "2": "pending"}
    assert "test_add_negative" in project.tasks()["2"]["last_failure"]


@pytest.mark.slow
def test_a_task_may_change_the_checks_that_its_files_line_names(make_project: MakeProject) -> None:
    project = make_project("Subtract instead", t1="Files: calc.py, tests/test_calc.py")
    new_test = TEST_CALC.replace("add(2, 3), 5", "add(2, 3), -1")
    project.plan("1", do(["write", "calc.py", WRONG_CALC], ["write", "tests/test_calc.py", new_test], ["claim"]))

    project.start()

    assert project.statuses() == {"1": "completed"}
    assert project.read("tests/test_calc.py") == new_test


@pytest.mark.slow
def test_a_protected_file_changes_only_by_a_task_that_names_it(make_project: MakeProject) -> None:
    project = make_project(
        "Do it",
        "Change the golden file",
        t2="Files: golden/out.txt",
        settings='protect = ["golden/**"]',
        files={"golden/out.txt": "gold\n"},
    )
    project.plan("1", do(["solve"], ["write", "golden/out.txt", "lead\n"], ["claim"]), DONE)
    project.plan("2", do(["write", "golden/out.txt", "better\n"], ["claim"]))

    project.start()

    assert project.statuses() == {"1": "completed", "2": "completed"}
    first, second = project.attempts("1")
    assert (first["outcome"], second["outcome"]) == ("quality_failed", "completed")
    assert "golden/out.txt" in first["why"]
    assert project.read("golden/out.txt") == "better\n"


@pytest.mark.slow
def test_a_deleted_test_is_named_although_the_rest_is_green(make_project: MakeProject) -> None:
    project = make_project("Tidy up", checks=PYTEST)
    fewer = TEST_CALC[: TEST_CALC.index("\n    def test_add_nothing")]
    project.plan("1", do(["solve"], ["write", "tests/test_calc.py", fewer], ["claim"]))

    project.start("--iterations", "1", code=None)

    attempt = only_attempt(project)
    assert any("test_add_nothing" in test for test in attempt["lost_tests"])
    assert "test_add_nothing" in project.samuel("run", "show", "1").out


# Without checks, without work


@pytest.mark.slow
def test_without_checks_a_completed_task_is_called_unverified_wherever_a_person_looks(
    make_project: MakeProject,
) -> None:
    project = make_project("One", checks=None, files=NO_CHECKS)

    screen = project.start().screen

    assert project.tasks()["1"]["status"] == "completed"
    assert project.tasks()["1"]["grade"] == "unverified"
    assert "unverified" in screen
    assert "unverified" in project.samuel("run", "status").out
    assert "unverified" in project.samuel("run", "tasks").out
    assert "unverified" in project.samuel("run", "report", "--markdown").out


@pytest.mark.slow
def test_with_checks_a_completed_task_says_that_they_verified_it(make_project: MakeProject) -> None:
    project = make_project("One")

    screen = project.start().screen

    assert project.tasks()["1"]["grade"] == "checked"
    assert "unverified" not in screen + project.samuel("run", "tasks").out


@pytest.mark.parametrize("by", ["option", "setting"])
def test_required_checks_that_are_missing_stop_the_run_with_exit_code_2(
    make_project: MakeProject, by: str
) -> None:
    project = make_project(
        "One", checks=None, files=NO_CHECKS, settings="require_checks = true" if by == "setting" else ""
    )

    ran = project.start(*(["--require-checks"] if by == "option" else []), code=2)

    assert project.calls() == []
    assert "quality_checks" in ran.screen


@pytest.mark.slow
def test_a_claim_without_any_change_does_not_complete_a_task(make_project: MakeProject) -> None:
    project = make_project("One")
    project.plan("1", do(["claim"]))

    project.start("--iterations", "1", code=None)

    assert project.statuses() == {"1": "pending"}
    assert project.tasks()["1"]["attempts"] == 1


@pytest.mark.slow
def test_a_claim_without_change_completes_a_task_that_needs_none(make_project: MakeProject) -> None:
    project = make_project("Look whether all is well", t1="Changes: none")
    project.plan("1", do(["claim"]))

    project.start()

    assert project.statuses() == {"1": "completed"}


@pytest.mark.slow
def test_the_check_of_a_task_runs_after_those_of_the_project_and_knows_its_task(make_project: MakeProject) -> None:
    own = "grep -q right work1.py && echo $SAMUEL_TASK_ID > ../outside/marks/checked-by-task"
    project = make_project("One", "Two", t1=f"Check: {own}", settings='evidence = "in place"')
    project.solution("1", {"work1.py": "wrong = 1\n"}, "halves")
    project.solution("1", {"work1.py": "right = 1\n"})
    project.plan("1", do(["half"], ["claim"]), DONE)

    project.start()

    assert project.outcomes("1") == ["quality_failed", "completed"]
    assert own in project.tasks()["1"]["last_failure"] or own in project.attempts("1")[0]["why"]
    assert [check["command"] for check in project.attempts("1")[1]["checks"]] == ["make test", own, own]
    assert project.tasks()["1"]["grade"] == "proven"
    assert [check["command"] for check in project.attempts("2")[0]["checks"]] == ["make test"]
    assert (project.outside / "marks/checked-by-task").read_text() == "1\n"


# The baseline


@pytest.mark.slow
def test_a_red_baseline_stops_the_run_before_any_agent_starts_and_names_the_check(
    make_project: MakeProject,
) -> None:
    project = make_project("One", files={"calc.py": WRONG_CALC})

    ran = project.start(code=1)

    assert project.calls() == []
    assert project.status()["exit_reason"] == "baseline_failed"
    assert "make test" in ran.screen
    assert "--baseline accept" in ran.screen
    assert project.tasks()["1"]["attempts"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("option", [[], ["--baseline", "accept"]], ids=["refuse", "accept"])
def test_what_a_failed_attempt_left_does_not_count_in_the_baseline_of_the_next_run(
    make_project: MakeProject, option: list[str]
) -> None:
    project = make_project("One")
    broken = do(["break", "calc.py"], ["solve"], ["claim"])
    project.plan("1", broken, do(["claim"]), do(["mend", "calc.py"], ["solve"], ["claim"]))
    project.start("--iterations", "1", code=None)
    assert project.outcomes("1") == ["quality_failed"]

    ran = project.start(*option)

    assert "baseline: the checks pass" in ran.screen
    assert project.outcomes("1") == ["quality_failed", "quality_failed", "completed"]
    assert project.read("calc.py") == CALC


TWO_CHECKS = f'["{PYTHON} -m unittest -q tests.test_calc", "{PYTHON} -m unittest -q tests.test_other"]'
TEST_OTHER = TEST_CALC.replace("Calc", "Other")


@pytest.mark.slow
@pytest.mark.parametrize("by", ["option", "setting"])
def test_after_an_accepted_red_baseline_only_what_became_red_is_a_failure(
    make_project: MakeProject, by: str
) -> None:
    project = make_project(
        "One",
        checks=TWO_CHECKS,
        files={
            "tests/test_calc.py": TEST_CALC.replace("add(2, 3), 5", "add(2, 3), 6"),
            "tests/test_other.py": TEST_OTHER,
        },
        settings='baseline = "accept"' if by == "setting" else "",
    )
    project.plan(
        "1", do(["break", "calc.py"], ["solve"], ["claim"]), do(["mend", "calc.py"], ["solve"], ["claim"])
    )

    project.start(*(["--baseline", "accept"] if by == "option" else []))

    assert project.statuses() == {"1": "completed"}
    assert project.outcomes("1") == ["quality_failed", "completed"]


@pytest.mark.slow
def test_a_test_that_became_red_counts_by_its_name_in_a_check_that_was_red_already(
    make_project: MakeProject,
) -> None:
    project = make_project(
        "One",
        checks=PYTEST,
        files={"tests/test_calc.py": TEST_CALC.replace("add(2, 3), 5", "add(2, 3), 6")},
    )
    project.plan(
        "1",
        do(["write", "calc.py", "def add(a, b):\n    return 0\n"], ["claim"]),
        do(["write", "calc.py", CALC], ["solve"], ["claim"]),
    )

    project.start("--baseline", "accept")

    first, second = project.attempts("1")
    assert (first["outcome"], second["outcome"]) == ("quality_failed", "completed")
    assert "test_add_nothing" in first["why"] + first["checks"][-1]["output_tail"]


def test_run_init_shows_the_files_that_the_checks_run(make_project: MakeProject) -> None:
    project = make_project("One")

    screen = project.samuel("run", "init", "--prd", "prd.md", "--force", "--no-commit").screen

    assert "Makefile" in screen
    assert "tests" in screen
    assert project.read("Makefile") == MAKEFILE


@pytest.mark.slow
def test_uncommitted_checks_of_a_person_cannot_be_softened_either(make_project: MakeProject) -> None:
    project = make_project("Make it faster")
    project.write("tests/test_calc.py", MORE_TESTS)  # not committed
    cheat = do(["write", "calc.py", WRONG_CALC], ["write", "tests/test_calc.py", ALWAYS_TRUE], ["claim"])
    project.plan("1", cheat)

    project.start("--iterations", "1", code=None)

    assert project.statuses() == {"1": "pending"}
    assert "tests/test_calc.py" in project.tasks()["1"]["last_failure"]


@pytest.mark.slow
@pytest.mark.parametrize("rules", [".gitignore", ".git/info/exclude"])
def test_checks_that_are_hidden_from_git_do_not_complete_a_task(make_project: MakeProject, rules: str) -> None:
    project = make_project("Make it faster")
    cheat = "import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None\n"
    hide = ["run", "sh", "-c", f"echo test_aaa.py >> {rules}"]
    project.plan("1", do(["write", "calc.py", WRONG_CALC], ["write", "tests/test_aaa.py", cheat], hide, ["claim"]))

    project.start("--iterations", "1", code=None)

    assert project.statuses() == {"1": "pending"}
    assert "FAILED (failures=1)" in project.tasks()["1"]["last_failure"]  # the clean room does not have the file


@pytest.mark.slow
def test_commits_that_the_agent_of_a_failed_attempt_made_are_named(make_project: MakeProject) -> None:
    project = make_project("Make it faster")
    commit = ["run", "git", "commit", "-qam", "broken by the agent"]
    project.plan("1", do(["write", "calc.py", WRONG_CALC], commit, ["claim"]))

    screen = project.start("--iterations", "1", code=None).screen

    assert project.statuses() == {"1": "pending"}
    assert "broken by the agent" in screen
