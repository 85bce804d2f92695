"""`samuel verify`: the checks of a receipt run again, here and elsewhere."""

from __future__ import annotations

import hashlib
import json
import re

from tests.verify.conftest import CHECK, Shop


def answer(shop: Shop, target: str, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """The exit code, and of the only receipt the answer and the reasons."""
    ran = shop.verify(target, *arguments, **variables)
    (receipt,) = ran.data["receipts"]
    return ran.code, receipt["answer"], "; ".join(receipt["reasons"])


def remarks(shop: Shop, target: str = "HEAD") -> str:
    return "; ".join(shop.verify(target).data["receipts"][0]["remarks"])


def test_commit_of_a_run_has_a_receipt_in_its_note_and_its_digest_in_its_message(shop: Shop) -> None:
    commit, tree = shop.git("rev-parse", "HEAD", "HEAD^{tree}").split()
    note = shop.note()
    assert note["_type"] == "https://in-toto.io/Statement/v1"
    assert note["subject"] == [
        {"name": "commit", "digest": {"gitCommit": commit}},
        {"name": "tree", "digest": {"gitTree": tree}},
    ]
    predicate = note["predicate"]
    assert (predicate["grade"], predicate["task"]["title"]) == ("proven", "Fix negative prices")
    assert [corner["corner"] for corner in predicate["corners"]] == ["own", "old tests", "old source", "planted"]
    assert predicate["corners"][0]["tree"] == {"gitTree": tree}
    assert predicate["corners"][0]["runs"][0]["command"] == CHECK
    assert "test_prices.Prices.test_negative" in str(predicate["evidence"]["failToPass"])
    assert predicate["environment"]["packages"][0]["names"] == ["dependency-1.0"]
    assert predicate["cost"]["known"] is False
    assert commit not in json.dumps(predicate)
    text = json.dumps(predicate, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert re.findall("^Samuel-Receipt: sha256:(.*)$", shop.git("log", "-1", "--format=%B"), re.M) == [digest]


def test_receipt_prints_the_statement_of_a_task_and_an_array_for_a_run(new_shop: Shop) -> None:
    new_shop.run()
    assert json.loads(new_shop.samuel("run", "receipt", "1").out) == new_shop.note()
    printed = new_shop.samuel("run", "receipt").out
    assert json.loads(printed) == [new_shop.note()]
    (new_shop.root / "receipt.json").write_text(printed)
    assert answer(new_shop, "receipt.json") == (0, "same", "")


def test_task_without_a_receipt_is_an_error(new_shop: Shop) -> None:
    new_shop.add_task()
    ran = new_shop.samuel("run", "receipt", "1")
    assert (ran.code, ran.out) == (1, "")
    assert "error: task `1` has no receipt" in ran.err


def test_receipt_of_the_last_commit_is_the_same(shop: Shop) -> None:
    before = shop.git("status", "--porcelain")
    ran = shop.samuel("verify", "HEAD")
    commit = shop.git("rev-parse", "--short=12", "HEAD")
    assert (ran.code, ran.out) == (0, f"same {commit} 1 Fix negative prices (proven)\n")
    assert shop.git("status", "--porcelain") == before
    assert not list((shop.directory / "home/cache").glob("verify-*")), "nothing is left"


def test_receipt_is_the_same_in_a_clone_at_another_path(shop: Shop) -> None:
    clone = shop.clone("elsewhere/deep")
    assert clone.verify("HEAD").code == 0
    (clone.root / "prices.py").write_text("broken")  # only the commit counts
    assert clone.verify("HEAD").code == 0


def test_command_that_was_not_agreed_to_does_not_run(shop: Shop) -> None:
    clone = shop.clone()
    code, word, reason = answer(clone, "HEAD", SAMUEL_TRUST="")
    assert (code, word) == (4, "cannot")
    assert reason.startswith(f"not agreed to in this project: `{CHECK}`")
    assert answer(clone, "HEAD", "--check", CHECK, SAMUEL_TRUST="")[:2] == (0, "same")
    assert clone.samuel("trust", "--yes", SAMUEL_TRUST="").code == 0
    assert answer(clone, "HEAD", SAMUEL_TRUST="")[:2] == (0, "same")


def test_command_that_only_the_receipt_names_does_not_run_though_all_is_trusted(shop: Shop) -> None:
    (shop.root / "samuel.toml").write_text((shop.root / "samuel.toml").read_text().replace(CHECK, "true"))
    assert answer(shop, "HEAD")[:2] == (4, "cannot")


def test_another_python_with_the_same_results_is_the_same_and_named(shop: Shop) -> None:
    shop.python("3.99.1")
    assert shop.verify("HEAD").code == 0
    assert "`python3` is `Python 3.99.1` here, and was `Python 3" in remarks(shop)


def test_another_python_with_other_results_is_different(shop: Shop) -> None:
    shop.python("3.99.1", "OTHER_PYTHON=1")
    ran = shop.verify("HEAD")
    (receipt,) = ran.data["receipts"]
    assert (ran.code, receipt["answer"]) == (1, "different")
    assert "passed in the receipt, failed here: test_prices.Prices.test_python" in "; ".join(receipt["reasons"])
    assert "`Python 3.99.1` here" in "; ".join(receipt["remarks"])


def test_program_of_a_check_that_is_missing_cannot_be_verified(shop: Shop) -> None:
    (shop.directory / "bin/python3").write_text("#!/bin/sh\nexit 127\n")
    code, word, reason = answer(shop, "HEAD")
    assert (code, word) == (4, "cannot")
    assert "its program is missing" in reason


def test_changed_dependency_is_different_and_named(shop: Shop) -> None:
    shop.dependency("two", "2.0")
    ran = shop.verify("HEAD")
    (receipt,) = ran.data["receipts"]
    assert (ran.code, receipt["answer"]) == (1, "different")
    assert "failed here: test_prices.Prices.test_dependency" in "; ".join(receipt["reasons"])
    text = "; ".join(receipt["remarks"])
    assert "the packages in `.venv` are others than in the receipt" in text
    assert "dependency-2.0 is new" in text


def test_flaky_test_is_repeated_once(shop: Shop) -> None:
    shop.rain.touch()
    ran = shop.verify("HEAD")
    (receipt,) = ran.data["receipts"]
    assert (ran.code, receipt["answer"]) == (0, "same"), receipt
    assert "is flaky" in "; ".join(receipt["remarks"])


def test_commit_without_a_receipt_is_different_and_a_range_takes_the_worst(shop: Shop) -> None:
    (shop.root / "prices.py").write_text("def price(amount):\n    return 1\n")
    shop.git("commit", "-q", "-a", "-m", "by hand")
    assert answer(shop, "HEAD") == (1, "different", "the commit has no receipt")
    ran = shop.verify("HEAD~2..HEAD")
    assert (ran.code, ran.data["answer"]) == (1, "different")
    assert [receipt["answer"] for receipt in ran.data["receipts"]] == ["same", "different"]
    assert shop.verify("HEAD~2..HEAD~1").code == 0


def test_range_without_commits_and_names_of_nothing(shop: Shop) -> None:
    assert answer(shop, "HEAD..HEAD") == (4, "cannot", "`HEAD..HEAD` has no commits")
    ran = shop.samuel("verify", "nothing")
    assert ran.code == 2
    assert "`nothing` is neither a file nor a commit of this repository" in ran.err


def test_missing_commit_cannot_be_verified(shop: Shop) -> None:
    receipt = json.dumps(shop.note())
    commit = shop.git("rev-parse", "HEAD")
    shop.git("reset", "-q", "--hard", "HEAD~1")
    clone = Shop(shop.directory, shop.directory / "shallow")
    shop.git("clone", "-q", "--no-local", str(shop.root), str(clone.root))
    (clone.root / "receipt.json").write_text(receipt)
    assert answer(clone, "receipt.json")[:2] == (4, "cannot")
    assert answer(clone, commit) == (4, "cannot", f"this repository does not have the commit {commit}; fetch it")


def test_receipt_names_files_that_the_commit_does_not_have_as_they_were(new_shop: Shop) -> None:
    (new_shop.root / "note.txt").write_text("a person's own\n")
    new_shop.run()
    assert new_shop.note()["predicate"]["work"]["notCommitted"] == ["note.txt"]
    assert new_shop.verify("HEAD").code == 0
    assert "in another state than the commit has them: `note.txt`" in remarks(new_shop)


def test_work_without_a_commit_has_a_receipt_of_its_tree(new_shop: Shop) -> None:
    config = new_shop.root / "samuel.toml"
    config.write_text(config.read_text().replace("commit = true", "commit = false"))
    new_shop.git("commit", "-q", "-a", "-m", "no commits")
    new_shop.run()
    receipt = json.loads(new_shop.samuel("run", "receipt", "1").out)
    assert [entry["name"] for entry in receipt["subject"]] == ["tree"]
    (new_shop.root / "receipt.json").write_text(json.dumps(receipt))
    assert answer(new_shop, "receipt.json") == (0, "same", "")


def test_check_that_came_with_the_task_runs_again_before_and_after_the_work(new_shop: Shop) -> None:
    own = "grep -q max prices.py"
    new_shop.add_task(checks=(own,))
    assert new_shop.samuel("run", "start", "--yes").code == 0
    corners = {corner["corner"] for corner in new_shop.note()["predicate"]["corners"]}
    assert "before" in corners
    assert answer(new_shop, "HEAD") == (0, "same", "")
    clone = new_shop.clone()  # it has no task list
    assert answer(clone, "HEAD")[:2] == (4, "cannot")
    assert answer(clone, "HEAD", "--check", own) == (0, "same", "")


def test_check_that_failed_before_the_run_and_was_accepted_is_the_same(new_shop: Shop) -> None:
    config = new_shop.root / "samuel.toml"
    config.write_text(config.read_text().replace("quality_checks = [", 'quality_checks = ["test -e never", '))
    new_shop.git("commit", "-q", "-a", "-m", "a check that fails")
    new_shop.run("--baseline", "accept")
    runs = new_shop.note()["predicate"]["corners"][0]["runs"]
    assert [(run["passed"], run["knownFailure"]) for run in runs] == [(False, True), (True, False)]
    assert answer(new_shop, "HEAD") == (0, "same", "")
