"""Receipts of work that was judged by acceptance tests, which are in its commit."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.verify.conftest import AGENT, FIXED, Shop
from tests.verify.test_forged import commit_with_receipt, reasons
from tests.verify.test_verify import answer

ACCEPTANCE = """\
import unittest

from prices import price


class Accepted(unittest.TestCase):
    def test_minus_one(self):
        self.assertEqual(price(-1), 0)

    def test_minus_two(self):
        self.assertEqual(price(-2), 0)
"""
# The author writes the tests; then the worker does the work, with a test of its own or without.
WITHOUT_TEST = f"cat > prices.py <<'END'\n{FIXED}END\n"
WITH_TEST = AGENT.partition("cat > /dev/null\n")[2].partition("samuel run done")[0]


def agent(shop: Shop, worker: str, settings: str = "") -> None:
    script = [
        "#!/bin/sh\nset -e\ncat > /dev/null\n",
        f"if [ $SAMUEL_MODE = acceptance ]; then cat > test_accepted.py <<'END'\n{ACCEPTANCE}END\nexit 0; fi\n",
        worker,
        'samuel run done "$SAMUEL_TASK_ID" > /dev/null\n',
    ]
    (shop.root / "agent.sh").write_text("".join(script))
    config = shop.root / "samuel.toml"
    config.write_text(
        config.read_text().replace("commit = true", f'commit = true\nacceptance = "agent"\n{settings}')
    )
    shop.git("commit", "-q", "-a", "-m", "acceptance tests")


def corners(shop: Shop) -> list[str]:
    return [corner["corner"] for corner in shop.note()["predicate"]["corners"]]


@pytest.mark.parametrize("parallel", ["1", "2"], ids=["own tree", "lanes"])
def test_receipt_of_work_that_acceptance_tests_prove_is_the_same_in_a_clone(new_shop: Shop, parallel: str) -> None:
    agent(new_shop, WITHOUT_TEST)
    with (new_shop.root / "samuel.toml").open("a") as config:
        config.write('\n[lanes]\ncopy = [".venv"]\n')
    new_shop.git("commit", "-q", "-a", "-m", "lanes")
    new_shop.run("--parallel", parallel)
    predicate = new_shop.note()["predicate"]
    assert (predicate["grade"], predicate["evidence"]["restsOn"][:34]) == (
        "proven",
        "2 acceptance tests that failed bef",
    )
    blob = new_shop.git("rev-parse", "HEAD:test_accepted.py")
    assert predicate["acceptance"]["files"] == [{"path": "test_accepted.py", "digest": {"gitBlob": blob}}]
    assert corners(new_shop) == ["own", "acceptance before", "planted"]
    assert answer(new_shop.clone(), "HEAD") == (0, "same", "")


def test_tests_of_the_worker_are_not_in_the_corner_of_the_acceptance_tests(new_shop: Shop) -> None:
    agent(new_shop, WITH_TEST)
    new_shop.run()
    assert corners(new_shop) == ["own", "old tests", "acceptance", "acceptance before", "planted"]
    assert answer(new_shop.clone(), "HEAD") == (0, "same", "")


@pytest.mark.parametrize("worker", [WITHOUT_TEST, WITH_TEST], ids=["without a test", "with a test"])
def test_hidden_acceptance_tests_are_in_the_commit_and_run_again(new_shop: Shop, worker: str) -> None:
    agent(new_shop, worker, "acceptance_visible = false")
    new_shop.run()
    note = new_shop.note()["predicate"]
    assert (note["grade"], note["acceptance"]["hidden"]) == ("proven", 1)
    own, accepted = (
        next(each for each in note["corners"] if each["corner"] == name) for name in ("own", "acceptance")
    )
    assert "test_minus_two" not in str(own["runs"])
    assert "test_minus_two" in str(accepted["runs"])
    assert answer(new_shop.clone(), "HEAD") == (0, "same", "")


class TestForged:
    @pytest.fixture
    def accepted(self, new_shop: Shop) -> Shop:
        agent(new_shop, WITHOUT_TEST)
        new_shop.run()
        return new_shop

    def forged(self, shop: Shop, **changes: Any) -> None:
        predicate = copy.deepcopy(shop.note()["predicate"])
        predicate |= changes
        commit_with_receipt(shop, predicate)

    def test_receipt_with_other_acceptance_tests_than_the_commit_is_different(self, accepted: Shop) -> None:
        acceptance = accepted.note()["predicate"]["acceptance"]
        acceptance["files"][0]["digest"] = {"gitBlob": "0" * 40}
        self.forged(accepted, acceptance=acceptance)
        assert reasons(accepted) == "the file of its acceptance tests `test_accepted.py` is not in the commit"

    def test_old_test_is_no_acceptance_test(self, accepted: Shop) -> None:
        blob = accepted.git("rev-parse", "HEAD:prices.py")
        acceptance = accepted.note()["predicate"]["acceptance"]
        acceptance["files"] = [{"path": "prices.py", "digest": {"gitBlob": blob}}]
        self.forged(accepted, acceptance=acceptance)
        assert reasons(accepted) == "`prices.py` was there before, and is no new acceptance test"

    def test_receipt_that_hides_tests_from_its_own_corner_is_different(self, accepted: Shop) -> None:
        """Else a test that fails could be left out of the corner that has all."""
        acceptance = accepted.note()["predicate"]["acceptance"]
        self.forged(accepted, acceptance={**acceptance, "hidden": 2})
        assert reasons(accepted) == (
            "other acceptance tests would be hidden from its worker: 2 in the receipt, 1 here"
        )

    def test_receipt_without_the_corner_in_which_they_failed_is_different(self, accepted: Shop) -> None:
        others = [
            each for each in accepted.note()["predicate"]["corners"] if each["corner"] != "acceptance before"
        ]
        self.forged(accepted, corners=others)
        assert "do not fail without the work, or do not pass with it: " in reasons(accepted)

    def test_receipt_without_acceptance_tests_cannot_have_their_corner(self, accepted: Shop) -> None:
        self.forged(accepted, acceptance=None)
        assert answer(accepted, "HEAD")[1:] == (
            "cannot",
            "the corner `acceptance before` cannot be made again here",
        )
