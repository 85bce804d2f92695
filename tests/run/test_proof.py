"""What counts as proof: attempts of honest and of lying agents, with old and new tests on old and new source."""

from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec.structs import replace

from samuel.history.attempt_record import AttemptRecord
from samuel.history.history import History
from samuel.history.notices import CheckEnded, LoopWarning
from samuel.history.run import Run
from samuel.tasks.task import Task

from .conftest import LoopProject

CHECK = f'quality_checks = ["{sys.executable} -m pytest -q -p no:cacheprovider"]'
PRICES = "def price(amount):\n    return amount\n"
TEST = "from prices import price\n\n\ndef test_price():\n    assert price(2) == 2\n"
WITH_TAX = "def price(amount, tax=0):\n    return amount + tax\n"
TAX_TEST = TEST + "\n\ndef test_tax():\n    assert price(2, tax=1) == 3\n"
DOUBLED = "def price(amount):\n    return 2 * amount\n"
DOUBLED_TEST = "from prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n"
CLAIM = 'samuel run done "$SAMUEL_TASK_ID"\n'


@pytest.fixture
def shop(loop: LoopProject) -> LoopProject:
    (loop.root / "prices.py").write_text(PRICES)
    (loop.root / "tests").mkdir()
    (loop.root / "tests/conftest.py").write_text("import sys\nsys.path.insert(0, '.')\n")
    (loop.root / "tests/test_prices.py").write_text(TEST)
    loop.configure(CHECK)
    for command in (["add", "-A"], ["commit", "-q", "-m", "shop"]):
        subprocess.run(["git", *command], cwd=loop.root, check=True)
    return loop


def write(path: str, text: str) -> str:
    return f"cat > {path} <<'END'\n{text}END\n"


def add(loop: LoopProject, title: str, **fields: object) -> None:
    loop.store.replace_all([Task(id="1", title=title, **fields)])  # type: ignore[arg-type]


def attempts(loop: LoopProject, run: Run) -> tuple[AttemptRecord, ...]:
    with loop.open() as app:
        state = loop.root / ".samuel/run"
        return History.of(state, app.user.record(state)).load(run.run_id).attempts


def judged(loop: LoopProject, *steps: str, iterations: int = 4) -> tuple[list[str], str, Run]:
    """The outcomes of the attempts of an agent that does this each time, and the grade in the end."""
    loop.agent("".join(steps) + CLAIM)
    run = loop.run(iterations)
    task = loop.store.load()[0]
    return [attempt.outcome for attempt in attempts(loop, run)], task.grade, run


def test_new_behaviour_with_its_test_is_proven(shop: LoopProject) -> None:
    add(shop, "Fix negative prices")
    fixed = "def price(amount):\n    return max(amount, 0)\n"
    test = TEST + "\n\ndef test_negative():\n    assert price(-1) == 0\n"
    outcomes, grade, run = judged(shop, write("prices.py", fixed), write("tests/test_prices.py", test))
    assert (outcomes, grade) == (["completed"], "proven")
    (attempt,) = attempts(shop, run)
    assert attempt.evidence is not None
    assert attempt.evidence.fail_to_pass == ("tests.test_prices::test_negative",)
    assert attempt.evidence.place == "clean room"
    assert [check.corner for check in attempt.checks] == ["own", "old tests", "old source", "planted"]
    assert attempt.evidence.shown_to_fail == "yes"


def test_new_function_with_its_test_is_proven_by_new_names_only(shop: LoopProject) -> None:
    add(shop, "Add the tax")
    test = "from prices import tax\n\n\ndef test_tax():\n    assert tax(2) == 1\n"
    work = PRICES + "\n\ndef tax(amount):\n    return amount / 2\n"
    assert judged(shop, write("prices.py", work), write("tests/test_tax.py", test))[:2] == (
        ["completed"],
        "proven, new names only",
    )


def test_comment_is_sent_back_once_and_then_only_checked(shop: LoopProject) -> None:
    add(shop, "Round the prices")
    outcomes, grade, run = judged(shop, "echo '# 1.1' >> prices.py\n")
    assert (outcomes, grade) == (["unproven", "completed"], "checked")
    assert run.exit_code == 0
    assert "no code" in attempts(shop, run)[0].why


def test_feature_without_a_test_is_sent_back_once(shop: LoopProject) -> None:
    add(shop, "Add the tax", kind="feature")
    assert judged(shop, write("prices.py", WITH_TAX))[:2] == (["unproven", "completed"], "checked")


def test_refactoring_without_a_test_is_checked_at_once(shop: LoopProject) -> None:
    add(shop, "Tidy up", kind="refactor")
    work = "def price(amount):\n    result = amount\n    return result\n"
    assert judged(shop, write("prices.py", work))[:2] == (["completed"], "checked")


def test_trivial_test_proves_nothing(shop: LoopProject) -> None:
    add(shop, "Fix it", kind="fix")
    trivial = "def test_nothing():\n    assert 1 == 1\n"
    outcomes, grade, _ = judged(shop, write("prices.py", WITH_TAX), write("tests/test_more.py", trivial))
    assert (outcomes, grade) == (["unproven", "completed"], "checked")


def test_required_proof_that_is_missing_fails_the_attempt(shop: LoopProject) -> None:
    shop.configure(f'{CHECK}\nproof = "require"\nmax_task_attempts = 2')
    add(shop, "Round the prices")
    outcomes, grade, run = judged(shop, "echo '# 1.1' >> prices.py\n")
    assert (outcomes, grade) == (["unproven", "unproven"], "")
    assert shop.statuses() == {"1": "blocked"}
    assert run.exit_code == 1


def test_proof_off_runs_no_further_corner(shop: LoopProject) -> None:
    shop.configure(f'{CHECK}\nproof = "off"')
    add(shop, "Round the prices")
    outcomes, grade, run = judged(shop, "echo '# 1.1' >> prices.py\n")
    assert (outcomes, grade) == (["completed"], "checked")
    assert [check.corner for check in attempts(shop, run)[0].checks] == ["own"]


def test_check_that_came_with_the_task_and_was_red_before_proves_it(shop: LoopProject) -> None:
    add(shop, "Write the manual", checks=("test -f MANUAL.txt",))
    assert judged(shop, "echo text > MANUAL.txt\n")[:2] == (["completed"], "proven")


def test_check_that_came_with_the_task_and_was_green_before_proves_nothing(shop: LoopProject) -> None:
    add(shop, "Fix the manual", checks=("test -f prices.py",), kind="fix")
    outcomes, grade, run = judged(shop, "echo text > MANUAL.txt\n")
    assert (outcomes, grade) == (["unproven", "completed"], "checked")
    why = "`test -f prices.py` passes before the work as well, so it proves nothing"
    assert why in attempts(shop, run)[0].why
    evidence = attempts(shop, run)[-1].evidence
    assert evidence is not None
    assert why in evidence.rests_on
    assert f"task 1: {why}" in [report.text for report in shop.reports if isinstance(report, LoopWarning)]


def test_check_that_is_green_before_the_work_is_named_before_its_agent_starts(shop: LoopProject) -> None:
    green, red = "test -f prices.py", "test -f MANUAL.txt"
    add(shop, "Write the manual", checks=(green, red))
    assert judged(shop, "echo text > MANUAL.txt\n")[:2] == (["completed"], "proven")
    names = [type(report).__name__ for report in shop.reports]
    texts = [report.text for report in shop.reports if isinstance(report, LoopWarning)]
    why = f"task 1: `{green}` passes before the work as well, so it proves nothing"
    assert texts == [why], "it is said once"
    assert names.index("LoopWarning") < names.index("AgentEnded")
    before = [report for report in shop.reports if isinstance(report, CheckEnded) and report.corner == "before"]
    assert [report.command for report in before] == [green, red, red], "a failure is repeated before it counts"


def test_checks_of_a_task_do_not_run_before_the_work_without_proof(shop: LoopProject) -> None:
    shop.configure(f'{CHECK}\nproof = "off"')
    add(shop, "Write the manual", checks=("test -f prices.py",))
    judged(shop, "echo text > MANUAL.txt\n")
    assert "before" not in [report.corner for report in shop.reports if isinstance(report, CheckEnded)]


def test_old_tests_that_fail_twice_are_disputed_and_wait_for_a_person(shop: LoopProject) -> None:
    add(shop, "Double the prices")
    outcomes, _, run = judged(shop, write("prices.py", DOUBLED), write("tests/test_prices.py", DOUBLED_TEST))
    assert outcomes == ["quality_failed", "disputed"]
    assert (run.exit_reason, run.exit_code) == ("waiting", 1)
    (task,) = shop.store.load()
    assert task.status == "waiting"
    assert "tests.test_prices::test_price" in task.open_questions[0].text
    assert (shop.root / "prices.py").read_text() == PRICES
    attempt = attempts(shop, run)[-1]
    assert attempt.contested == ("tests.test_prices::test_price",)
    assert attempt.ref


def test_work_in_an_ignored_file_does_not_reach_the_checks(shop: LoopProject) -> None:
    (shop.root / ".gitignore").write_text("seen-*\nenv-*\nconftest_extra.py\nsitecustomize.py\n")
    add(shop, "Fix it", kind="fix")
    broken = "def price(amount):\n    return 0\n"
    cheat = "import prices\n\nprices.price = lambda amount: amount\n"
    outcomes, grade, _ = judged(shop, write("prices.py", broken), write("sitecustomize.py", cheat), iterations=1)
    assert (outcomes, grade) == (["quality_failed"], "")


def test_evidence_in_place_says_so(shop: LoopProject) -> None:
    shop.configure(f'{CHECK}\nevidence = "in place"')
    add(shop, "Fix negative prices")
    fixed = "def price(amount):\n    return max(amount, 0)\n"
    test = TEST + "\n\ndef test_negative():\n    assert price(-1) == 0\n"
    outcomes, grade, run = judged(shop, write("prices.py", fixed), write("tests/test_prices.py", test))
    assert (outcomes, grade) == (["completed"], "proven")
    evidence = attempts(shop, run)[0].evidence
    assert evidence is not None
    assert evidence.place == "in place"
    assert (shop.root / "prices.py").read_text() == fixed


UNIT = f'quality_checks = ["{sys.executable} -m unittest discover -q -s tests -t ."]'
UNIT_TEST = """\
import unittest

from prices import price


class PriceTest(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(2), 2)
"""
BROKEN = "def price(amount):\n    return 0\n"


@pytest.fixture
def unit_shop(shop: LoopProject) -> LoopProject:
    """The shop with unittest, which writes no report."""
    (shop.root / "tests/test_prices.py").write_text(UNIT_TEST)
    (shop.root / "tests/conftest.py").unlink()
    (shop.root / "tests/__init__.py").touch()
    shop.configure(UNIT)
    for command in (["add", "-A"], ["commit", "-q", "-m", "unittest"]):
        subprocess.run(["git", *command], cwd=shop.root, check=True)
    return shop


@pytest.mark.parametrize(
    "cheat",
    [
        "import unittest\nunittest.TestCase.assertEqual = lambda *args: None\n",
        "import unittest\nunittest.TestCase.run = lambda self, result=None: None\n",
        "import unittest.runner\nunittest.result.TestResult.wasSuccessful = lambda self: True\n"
        "unittest.TextTestResult.addFailure = lambda *args: None\n",
    ],
    ids=["assertion", "test", "result"],
)
def test_source_that_disarms_the_runner_is_refused_and_named(unit_shop: LoopProject, cheat: str) -> None:
    add(unit_shop, "Tidy it", kind="refactor")
    outcomes, grade, run = judged(unit_shop, write("prices.py", cheat + BROKEN), iterations=1)
    assert (outcomes, grade) == (["quality_failed"], "")
    why = attempts(unit_shop, run)[0].why
    assert "the checks cannot fail any more with this work" in why or "no test ran" in why


def test_honest_work_with_unittest_is_proven_and_its_checks_are_shown_to_fail(unit_shop: LoopProject) -> None:
    add(unit_shop, "Fix negative prices")
    fixed = "def price(amount):\n    return max(amount, 0)\n"
    test = UNIT_TEST + "\n    def test_negative(self):\n        self.assertEqual(price(-1), 0)\n"
    outcomes, grade, run = judged(unit_shop, write("prices.py", fixed), write("tests/test_prices.py", test))
    assert (outcomes, grade) == (["completed"], "proven")
    evidence = attempts(unit_shop, run)[0].evidence
    assert evidence is not None
    assert evidence.shown_to_fail == "yes"


def test_test_that_was_weakened_is_put_back_when_the_work_passes_it_anyway(shop: LoopProject) -> None:
    add(shop, "Fix negative prices")
    fixed = "def price(amount):\n    return max(amount, 0)\n"
    weakened = "def test_nothing():\n    assert True\n"
    outcomes, grade, _ = judged(
        shop, write("prices.py", fixed), write("tests/test_prices.py", weakened), iterations=5
    )
    assert (outcomes, grade) == (["quality_failed", "unproven", "completed"], "checked")
    assert (shop.root / "tests/test_prices.py").read_text() == TEST


STRONGER = TEST + "\n\ndef test_mine():\n    assert price(3) == 3\n"
WEAKENED = "def test_nothing():\n    assert True\n"


@pytest.fixture
def uncommitted(shop: LoopProject) -> LoopProject:
    """The shop with a test that its owner has not committed."""
    (shop.root / "tests/test_prices.py").write_text(STRONGER)
    add(shop, "Fix negative prices")
    return shop


@pytest.mark.parametrize("iterations", [1, 2])
def test_uncommitted_test_of_a_person_is_given_back_when_an_agent_weakens_it(
    uncommitted: LoopProject, iterations: int
) -> None:
    cheat = (write("prices.py", BROKEN), write("tests/test_prices.py", WEAKENED))
    outcomes, _, run = judged(uncommitted, *cheat, iterations=iterations)
    assert outcomes == ["quality_failed", "disputed"][:iterations]
    assert (uncommitted.root / "tests/test_prices.py").read_text() == STRONGER
    attempt = attempts(uncommitted, run)[-1]
    assert "tests that you had not committed are as you had them: `tests/test_prices.py`" in attempt.notes
    show = ["git", "show", f"{attempt.ref}:tests/test_prices.py"]
    assert subprocess.run(show, cwd=uncommitted.root, capture_output=True, text=True).stdout == WEAKENED


def test_next_task_is_not_accused_of_what_was_done_to_an_uncommitted_test(uncommitted: LoopProject) -> None:
    second = Task(id="2", title="Tidy up", kind="refactor", priority="low")
    uncommitted.store.replace_all([*uncommitted.store.load(), second])
    cheat = write("prices.py", BROKEN) + write("tests/test_prices.py", WEAKENED)
    uncommitted.agent(f'if [ "$SAMUEL_TASK_ID" = 1 ]; then\n{cheat}else\necho "# tidy" >> prices.py\nfi\n{CLAIM}')
    uncommitted.run(5)
    assert uncommitted.statuses() == {"1": "waiting", "2": "completed"}


def test_accepted_work_has_its_version_of_an_uncommitted_test(uncommitted: LoopProject) -> None:
    judged(uncommitted, write("prices.py", BROKEN), write("tests/test_prices.py", WEAKENED))
    (task,) = uncommitted.store.load()
    question = task.questions[-1]
    accepted = replace(task, status="pending", questions=(replace(question, answer="accept ann"),))
    uncommitted.store.replace_all([accepted])
    uncommitted.run(1)
    (task,) = uncommitted.store.load()
    assert (task.status, task.grade) == ("completed", "disputed")
    assert (uncommitted.root / "tests/test_prices.py").read_text() == WEAKENED


def test_fix_of_an_exception_is_proven_by_a_test_that_ended_with_it(shop: LoopProject) -> None:
    add(shop, "Fix the price of nothing")
    fixed = "def price(amount):\n    return int(amount or 0)\n"
    test = TEST + "\n\ndef test_nothing():\n    assert price(None) + 1 == 1\n"
    outcomes, grade, _ = judged(shop, write("prices.py", fixed), write("tests/test_prices.py", test))
    assert (outcomes, grade) == (["completed"], "proven")
