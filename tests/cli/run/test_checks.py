"""`samuel run start`: checks that are required, checks of tasks, and what a red baseline means."""

from __future__ import annotations

import re
import shutil
import sys

import pytest

from samuel.tasks.task import Task

from .conftest import CONFIG, GOOD, steady

WITHOUT = CONFIG.replace('quality_checks = ["test ! -f wrong"]\n', "")
GREEN = CONFIG.replace("test ! -f wrong", "true")
REFUSED = (
    2,
    "",
    "error: checks are required, but the methodology `ralph` has none\n"
    'add `quality_checks = ["make test"]` or the like to samuel.toml, or leave out `--require-checks` and '
    "`require_checks`\n",
)


@pytest.mark.parametrize("command", ["start", "pilot"])
def test_required_checks_refuse_a_run_without_any_before_an_agent_starts(samuel, workshop, command):
    workshop.configure(WITHOUT)
    assert samuel("run", command, "--yes", "--require-checks") == REFUSED
    workshop.configure(WITHOUT.replace("pause", "require_checks = true\npause"))
    assert samuel("run", command, "--yes") == REFUSED
    assert workshop.statuses == ["pending", "pending"]
    assert not (workshop.root / "work-1").exists()


@pytest.mark.slow
def test_required_checks_let_a_run_with_checks_start(samuel, workshop):
    workshop.configure(GREEN)
    assert samuel("run", "start", "--yes", "--require-checks", "--iterations", "1").code == 0
    assert workshop.statuses == ["completed", "pending"]


def test_a_run_does_not_start_with_checks_of_tasks_that_are_not_trusted(samuel, workshop):
    workshop.configure(GREEN)
    assert samuel("trust", "--yes").code == 0
    workshop.store.replace_all([Task(id="1", title="One", checks=("touch own",))])
    ran = samuel("run", "start")
    assert ran == (
        1,
        "",
        "error: not trusted: `checks:ralph:tasks` has not been agreed to yet; run `samuel trust` to look at it "
        "and agree, or `samuel run start --yes`\n",
    )
    assert not (workshop.root / "work-1").exists()
    assert samuel("run", "start", "--yes").code == 0


def test_a_baseline_of_another_kind_is_a_usage_error(samuel, workshop):
    ran = samuel("run", "start", "--yes", "--baseline", "maybe")
    assert (ran.code, "refuse" in ran.err, "accept" in ran.err) == (2, True, True)


TESTED = CONFIG.replace("test ! -f wrong", "sh test.sh").replace("pause", "max_task_attempts = 1\npause")


@pytest.fixture
def tested(workshop, git):
    """A project with a test of its code, in one commit, and one task."""
    (workshop.root / "test.sh").write_text("grep -q old code.txt\n")
    (workshop.root / "code.txt").write_text("old\n")
    git(workshop.root, "add", "test.sh", "code.txt")
    git(workshop.root, "commit", "-q", "-m", "first")
    workshop.configure(TESTED)
    workshop.store.replace_all([Task(id="1", title="Say new, not old")])
    return workshop


IN_THE_RUN = "if the task is meant to change them, add the line `Files: test.sh` below it in the PRD"
OWN_FILES = f"{IN_THE_RUN}, then run `samuel run sync` and `samuel run reset 1`"
TAKE_IT = "to take the attempt as it is: `samuel run restore 1`, then `samuel run done 1`"


def test_a_refused_change_names_the_way_out_on_the_screen_in_status_and_in_show(samuel, tested):
    tested.configure(TESTED.replace("pause", 'protect = ["test.sh"]\npause'))
    tested.agent("echo new > code.txt\necho 'grep -q new code.txt' > test.sh\n" + GOOD)
    ran = samuel("run", "start", "--yes")
    assert tested.statuses == ["blocked"]
    assert f"  {IN_THE_RUN}\n  log: " in ran.out
    assert f"  samuel run reset 1\n    {OWN_FILES}\n    {TAKE_IT}\n" in ran.out
    assert f"            {OWN_FILES}\n            {TAKE_IT}\n" in samuel("run", "status").out
    screen = samuel("run", "show", "1").out
    assert f"way out      {OWN_FILES}\nway out      {TAKE_IT}\n" in screen


def test_a_person_can_call_a_blocked_task_done_and_an_agent_cannot(samuel, tested, inside):
    tested.store.replace_all([Task(id="1", title="One", status="blocked", last_failure="no key")])
    assert samuel("run", "done", "1") == (0, "task `1` is completed\n", "")
    (task,) = tested.store.load()
    assert (task.status, task.grade, task.last_failure) == ("completed", "done by a person", "")
    tested.store.replace_all([Task(id="1", title="One", status="blocked")])
    inside(TASK_ID="1")
    assert samuel("run", "done", "1").code != 0
    assert tested.statuses == ["blocked"]


NODE_TEST = """\
const test = require('node:test');
test('adds', () => {});
test('formats negative amounts', () => {});
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_lost_tests_are_on_the_screen_in_status_and_in_the_report(samuel, tested, git):
    (tested.root / "a.test.js").write_text(NODE_TEST)
    git(tested.root, "add", "a.test.js")
    git(tested.root, "commit", "-q", "-m", "tests")
    tested.configure(TESTED.replace("sh test.sh", "node --test"))
    tested.store.replace_all([Task(id="1", title="Tidy the tests", files_to_modify=("a.test.js",))])
    tested.agent("sed -i \"s/test('formats/test.skip('formats/\" a.test.js\n" + GOOD)
    ran = samuel("run", "start", "--yes")
    assert tested.statuses == ["completed"]
    lost = re.search(
        r"^  LOST TESTS: (.* ran before and do(?:es)? not run now: .*formats negative amounts.*)$", ran.out, re.M
    )
    assert lost
    assert f"  LOST TESTS in task 1: {lost[1]}\n    samuel run show 1 --diff\n" in ran.out
    assert f"LOST TESTS  1: {lost[1]} (`samuel run show 1 --diff`)\n" in samuel("run", "status").out
    ((row),) = samuel("run", "status", "--json").json["data"]["lost_tests"]
    assert (row["id"], any("formats negative" in test for test in row["tests"])) == ("1", True)
    assert "lost test" in samuel("run", "report").out.splitlines()[0]


def test_a_task_that_turned_nothing_green_is_unverified_everywhere(samuel, tested):
    (tested.root / "code.txt").write_text("red\n")
    ran = samuel("run", "start", "--yes", "--baseline", "accept")
    reason = "the checks failed before it, and it turned nothing green"
    assert f"  completed (unverified): {reason}; 1 of 1 task completed\n" in ran.out
    status = samuel("run", "status")
    assert "unverified  1 task that no check shows to be done: 1\n" in status.out
    assert samuel("run", "status", "--json").json["data"]["unverified"] == ["1"]
    screen = samuel("run", "show", "1").out
    assert "status     unverified\n" in screen
    assert "still red  sh test.sh\n" in screen
    assert samuel("run", "report").out.startswith("0 proven, 0 checked, 1 unverified, ")


def test_a_check_that_cannot_run_is_not_offered_to_be_accepted(samuel, tested):
    tested.configure(TESTED.replace("sh test.sh", "pytets -q"))
    for options in ((), ("--baseline", "accept")):
        ran = samuel("run", "start", "--yes", *options)
        assert ran.code == 1
        assert "`pytets -q` cannot run: the program is missing or may not be executed\n" in ran.out
        assert "fix `quality_checks` in samuel.toml, or install what is missing: samuel run start\n" in ran.out
        assert "--baseline accept" not in ran.out
    assert tested.statuses == ["pending"]


def test_a_flaky_check_is_named_on_the_screen(samuel, tested):
    flake = tested.root / "flake-out"
    (tested.root / "test.sh").write_text(f"if test -f '{flake}'; then rm '{flake}'; exit 1; fi\n")
    tested.agent("touch flake-out\n" + GOOD)
    ran = samuel("run", "start", "--yes")
    assert (
        "  check `sh test.sh`: FAILED (0.0s)\n"
        "  check `sh test.sh`: flaky: it failed, and passed when it was run once more (0.0s)\n"
        "  completed (checked): 1 of 1 task completed\n"
    ) in steady(ran.out)


def test_checks_that_run_twice_say_with_whose_files_each_of_them_ran(samuel, tested):
    tested.agent("echo new > code.txt\necho 'grep -q new code.txt' > test.sh\n" + GOOD)
    assert (
        "  check `sh test.sh`: ok (0.0s)\n"
        "  the attempt changed test.sh: checking with the tests as they were, too\n"
        "  check `sh test.sh` with the tests as they were: FAILED (0.0s)\n"
    ) in steady(samuel("run", "start", "--yes").out)


def test_checks_of_the_next_attempt_say_nothing_about_files_that_it_did_not_change(samuel, tested):
    tested.configure(TESTED.replace("max_task_attempts = 1", "max_task_attempts = 2"))
    tested.agent("if test -f again-out; then echo x > b.txt; else echo '# more' >> test.sh; touch again-out; fi\n")
    out = steady(samuel("run", "start", "--yes", "--iterations", "2").out)
    assert "  check `sh test.sh`: ok (0.0s)\n" in out.partition("iteration 2/")[2]


@pytest.mark.slow
def test_unittest_without_a_test_does_not_complete_a_task(samuel, tested, git):
    (tested.root / "test_app.py").write_text(
        "import unittest\n\n\nclass TestApp(unittest.TestCase):\n    def test_it(self):\n        pass\n"
    )
    git(tested.root, "add", "test_app.py")
    git(tested.root, "commit", "-q", "-m", "tests")
    tested.configure(TESTED.replace("sh test.sh", f"{sys.executable} -B -m unittest"))
    tested.store.replace_all([Task(id="1", title="Tidy the tests", files_to_modify=("test_app.py",))])
    tested.agent("echo > test_app.py\n" + GOOD)
    samuel("run", "start", "--yes")
    (task,) = tested.store.load()
    assert task.status == "blocked"
    assert "passed, but no test ran" in task.last_failure or "exit code 5" in task.last_failure


def test_run_start_says_that_no_test_file_was_found_for_a_check(samuel, workshop):
    (workshop.root / "Makefile").write_text("test:\n\t@cat Makefile > /dev/null\n")
    workshop.configure(GREEN.replace('"true"', '"make test"'))
    ran = samuel("run", "start", "--yes", "--iterations", "1")
    assert ran.code == 0
    assert "warning: no test file was found for `make test`: nothing is known about what it reads" in ran.err


RED = """\
[methodology.ralph]
agent = "mine"
pause = "0s"
quality_checks = ["true", "echo one; echo two >&2; exit 3"]

[agents.mine]
command = ["./agent.sh"]
prompt = "stdin"
"""


def test_status_and_show_after_a_red_baseline_name_the_check_its_output_and_the_way_out(samuel, workshop):
    workshop.configure(RED)
    assert samuel("run", "start", "--yes").code == 1
    why = "the checks fail before any agent has worked: `echo one; echo two >&2; exit 3`"
    way_out = "fix the checks, or count only what becomes worse: samuel run start --baseline accept"
    status = samuel("run", "status")
    assert f"\nwhy         {why}" in status.out
    assert "\ncheck       echo one; echo two >&2; exit 3: FAILED, exit code 3, " in status.out
    assert f"            one\n            two\n            {way_out}\n" in status.out
    (failure,) = samuel("run", "status", "--json").json["data"]["baseline_failures"]
    assert (failure["command"], failure["exit_code"]) == ("echo one; echo two >&2; exit 3", 3)
    assert failure["output_tail"].split() == ["one", "two"]
    run_page = samuel("run", "show").out
    assert f"way out  {way_out}\n" in run_page
    assert "check `echo one; echo two >&2; exit 3`: FAILED, exit code 3, 0.0s\n    one\n    two\n" in run_page
    assert why in samuel("run", "report", "--json").json["data"]["run"]["exit_message"]


def test_status_after_a_baseline_that_cannot_run_does_not_offer_to_accept_it(samuel, workshop):
    workshop.configure(RED.replace('"echo one; echo two >&2; exit 3"', '"no-such-program-here"'))
    assert samuel("run", "start", "--yes").code == 1
    out = samuel("run", "status").out
    assert "            fix `quality_checks` in samuel.toml, or install what is missing: samuel run start\n" in out
    assert "--baseline accept" not in out


def test_status_of_a_run_with_a_green_baseline_has_no_failures_of_it(samuel, workshop):
    samuel("run", "start", "--yes")
    assert samuel("run", "status", "--json").json["data"]["baseline_failures"] == []
