"""Receipts that are not what a run wrote: each is different, and nothing is run for them."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.verify.conftest import CHECK, Shop

from samuel.checks.recorded_tests import recorded_tests
from samuel.git.git import Git
from samuel.receipts.notes import ReceiptNotes
from samuel.receipts.statement import ReceiptBroken, as_statement, statement, trailer, why_not_of


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where each value of a document is: each field, and each item of a list."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def forgeries(receipt: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The receipt with each field changed, each removed, and with one more in each object."""
    for path in places(receipt):
        for kind in ("changed", "removed"):
            forged = copy.deepcopy(receipt)
            parent = forged
            for key in path[:-1]:
                parent = parent[key]
            if kind == "changed":
                parent[path[-1]] = _other(parent[path[-1]])
            else:
                del parent[path[-1]]
            yield f"{path} {kind}", forged
        forged = copy.deepcopy(receipt)
        value: Any = forged
        for key in path:
            value = value[key]
        if isinstance(value, dict):
            value["more"] = 1
            yield f"{path} extended", forged
    yield "extended", {**receipt, "more": 1}


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}0"
        case list():
            return [*value, "more"]
        case dict():
            return {**value, "more": "more"}
    return "other"


def test_no_field_of_a_receipt_can_be_changed(shop: Shop) -> None:
    git = Git(shop.root, shop.variables)
    commit = shop.git("rev-parse", "HEAD")
    tree, message = ReceiptNotes(git).facts(commit)
    receipt = shop.note()
    assert why_not_of(as_statement(receipt), commit, tree, message) == ""
    accepted, tried = [], 0
    for name, forged in forgeries(receipt):
        tried += 1
        try:
            if not why_not_of(as_statement(forged), commit, tree, message):
                accepted.append(name)
        except ReceiptBroken:
            continue
    assert accepted == []
    assert tried > 200


FORGED = [
    ("_type",),
    ("subject", 0, "digest", "gitTree"),
    ("subject", 1, "digest", "gitTree"),
    ("predicateType",),
    ("predicate", "grade"),
    ("predicate", "corners", 0, "runs", 0, "command"),
]


@pytest.mark.parametrize("path", FORGED, ids=str)
def test_forged_receipt_in_a_file_and_in_a_note_is_different(shop: Shop, path: tuple[Any, ...]) -> None:
    receipt = shop.note()
    parent: Any = receipt
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = f"{parent.get(path[-1], '')}0"
    (shop.root / "receipt.json").write_text(json.dumps(receipt))
    assert shop.verify("receipt.json").code == 1
    shop.git("notes", "--ref=samuel", "add", "--force", "--file=receipt.json", "HEAD")
    assert shop.verify("HEAD").data["answer"] == "different"


NO_RECEIPTS = ["", "no JSON", "[]", "{}", '{"_type": "https://in-toto.io/Statement/v1"}', "[" * 9000]


@pytest.mark.parametrize("text", NO_RECEIPTS, ids=lambda text: text[:9])
def test_note_that_is_no_receipt_is_different(shop: Shop, text: str) -> None:
    (shop.root / "note").write_text(text)
    shop.git("notes", "--ref=samuel", "add", "--allow-empty", "--force", "--file=note", "HEAD")
    ran = shop.verify("HEAD")
    assert (ran.code, ran.data["answer"]) == (1, "different")


def test_receipt_of_another_commit_is_different(shop: Shop) -> None:
    name = shop.git("notes", "--ref=samuel", "list", "HEAD")
    shop.git("commit", "-q", "--amend", "--no-edit", "--date=2001-01-01")
    shop.git("notes", "--ref=samuel", "add", "-C", name, "HEAD")
    (receipt,) = shop.verify("HEAD").data["receipts"]
    assert receipt["reasons"] == ["its `subject` is not that of the commit"]


def commit_with_receipt(shop: Shop, predicate: dict[str, Any], tree: str = "") -> None:
    """Replace the last commit by one that has another predicate, with all digests as they must be."""
    tree = tree or shop.git("rev-parse", "HEAD^{tree}")
    message = f"1 Fix negative prices\n\n{trailer(predicate)}\n"
    commit = shop.git("commit-tree", "-p", "HEAD~1", tree, stdin=message)
    shop.git("reset", "-q", "--hard", commit)
    text = json.dumps(statement(predicate, commit, tree))
    (Path(shop.directory) / "text").write_text(text)
    shop.git("notes", "--ref=samuel", "add", "--force", f"--file={shop.directory / 'text'}", "HEAD")


def reasons(shop: Shop) -> str:
    ran = shop.verify("HEAD")
    (receipt,) = ran.data["receipts"]
    assert ran.code == 1, receipt
    return "; ".join(receipt["reasons"])


def test_made_up_receipt_is_different_if_its_tests_do_not_fail_without_the_work(
    shop: Shop,
) -> None:
    """The author of a commit can make a receipt with the right digest; the checks still fail."""
    predicate = shop.note()["predicate"]
    shop.git("reset", "-q", "--hard", "HEAD~1")
    (shop.root / "prices.py").write_text((shop.root / "prices.py").read_text() + "# better\n")
    test = (shop.root / "test_prices.py").read_text()
    (shop.root / "test_prices.py").write_text(f"{test}\n    def test_negative(self):\n        pass\n")
    shop.git("commit", "-q", "-a", "-m", "lie")
    tree = shop.git("rev-parse", "HEAD^{tree}")
    predicate["work"] |= {"tree": {"gitTree": tree}}
    predicate["samuel"] = "0.0.1"  # the trees of its corners may be made in another way
    commit_with_receipt(shop, predicate, tree)
    assert "(old source): failed in the receipt, and passed here" in reasons(shop)


def test_made_up_receipt_without_the_corner_that_its_grade_rests_on_is_different(shop: Shop) -> None:
    predicate = shop.note()["predicate"]
    predicate["corners"] = [corner for corner in predicate["corners"] if corner["corner"] != "old source"]
    commit_with_receipt(shop, predicate)
    assert "do not fail without the work" in reasons(shop)
    predicate["evidence"]["failToPass"] = []
    commit_with_receipt(shop, predicate)
    assert reasons(shop) == "the grade is `proven`, and here `checked`"


def test_made_up_receipt_without_a_check_of_the_project_is_different(shop: Shop) -> None:
    predicate = shop.note()["predicate"]
    predicate |= {"corners": [], "grade": "unverified"}
    commit_with_receipt(shop, predicate)
    assert reasons(shop) == f"it has no run of `{CHECK}`, a check of this project"


def test_made_up_receipt_for_another_tree_is_different(shop: Shop) -> None:
    predicate = shop.note()["predicate"]
    predicate["work"]["tree"] = {"gitTree": "0" * 40}
    commit_with_receipt(shop, predicate)
    assert "its checks passed on the tree 000000000000" in reasons(shop)


def test_made_up_receipt_with_another_base_is_different(shop: Shop) -> None:
    predicate = shop.note()["predicate"]
    predicate["work"]["base"] = {"gitTree": "0" * 40}
    commit_with_receipt(shop, predicate)
    assert "no commit before it has the tree it began with" in reasons(shop)


def test_corner_that_this_version_does_not_know_cannot_be_verified(shop: Shop) -> None:
    predicate = shop.note()["predicate"]
    predicate["corners"].append({**predicate["corners"][0], "corner": "of the future"})
    commit_with_receipt(shop, predicate)
    ran = shop.verify("HEAD")
    assert (ran.code, ran.data["answer"]) == (4, "cannot")


def test_image_that_samuel_toml_does_not_name_is_not_used(shop: Shop) -> None:
    predicate = shop.note()["predicate"]
    predicate["environment"]["sandbox"] = {"kind": "oci", "image": "evil@sha256:1", "network": True}
    commit_with_receipt(shop, predicate)
    ran = shop.verify("HEAD")
    assert (ran.code, ran.data["answer"]) == (4, "cannot")
    assert "does not name the image" in str(ran.data["receipts"][0]["reasons"])


def test_commit_that_changes_samuel_toml_is_different(shop: Shop) -> None:
    """Else a made-up receipt could leave out a check by changing which there are."""
    predicate = shop.note()["predicate"]
    config = shop.root / "samuel.toml"
    config.write_text(config.read_text().replace("quality_checks", "no_checks"))
    shop.git("commit", "-q", "-a", "--amend", "--no-edit")
    tree = shop.git("rev-parse", "HEAD^{tree}")
    predicate["work"]["tree"] = {"gitTree": tree}
    predicate |= {"corners": [], "grade": "unverified"}
    commit_with_receipt(shop, predicate, tree)
    shop.git("checkout", "-q", "HEAD~1", "--", "samuel.toml")
    assert reasons(shop) == "it changes `samuel.toml`, which no agent may change"


def lie(predicate: dict[str, Any], corner: str, *path: str, value: Any) -> dict[str, Any]:
    """The predicate with another value in the first run of a corner."""
    changed = copy.deepcopy(predicate)
    place = next(each for each in changed["corners"] if each["corner"] == corner)
    if path[0] != "tree":
        place = place["runs"][0]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("own", "exitCode"), 3, "had exit code 3 in the receipt, and has 0 here"),
        (("own", "passed"), False, "failed in the receipt, and passed here"),
        (("own", "tests"), None, "reported no tests in the receipt"),
        (("own", "tests", "names"), ["test_other"], "names other tests in the receipt than its digest has"),
        (("own", "tests", "digest"), {"sha256": "0" * 64}, "its tests are others"),
        (("old tests", "tree"), {"gitTree": "0" * 40}, "ran on another tree"),
        (("old source", "passed"), True, "passed in the receipt, and ended with exit code 1 here"),
        (
            ("old source", "tests", "failed"),
            ["test_other"],
            "names other tests in the receipt than its digest has",
        ),
    ],
    ids=str,
)
def test_made_up_receipt_with_another_result_is_different(
    shop: Shop, path: tuple[str, ...], value: Any, reason: str
) -> None:
    commit_with_receipt(shop, lie(shop.note()["predicate"], *path, value=value))
    assert reason in reasons(shop)


def test_made_up_receipt_that_admits_a_failed_check_is_different(shop: Shop) -> None:
    """No run completes a task whose checks fail: that they fail here as well does not make it right."""
    predicate = shop.note()["predicate"]
    shop.git("reset", "-q", "--hard", "HEAD~1")
    (shop.root / "prices.py").write_text("import dependency\n\n\ndef price(amount):\n    return 1\n")
    shop.git("commit", "-q", "-a", "-m", "broken")
    tree = shop.git("rev-parse", "HEAD^{tree}")
    predicate["work"] |= {"tree": {"gitTree": tree}, "notOwned": [], "testFiles": []}
    predicate["evidence"] |= {"failToPass": [], "shownToFail": ""}
    predicate |= {"grade": "checked", "corners": predicate["corners"][:1]}
    run = predicate["corners"][0]["runs"][0]
    run |= {"passed": False, "exitCode": 1, "tests": None}
    for known_failure in (False, True):
        run["knownFailure"] = known_failure
        commit_with_receipt(shop, predicate, tree)
        assert "reported no tests in the receipt" in reasons(shop)
    done = subprocess.run(["sh", "-c", CHECK], cwd=shop.root, env=shop.variables, capture_output=True, text=True)
    results = {
        f"test_prices.Prices.{name}": "failed" if name == "test_price" else "passed"
        for name in ("test_price", "test_dependency", "test_python", "test_weather")
    }
    assert "FAILED (failures=1)" in done.stderr
    recorded = recorded_tests(results)  # type: ignore[arg-type]
    run["tests"] = {
        "passed": recorded.passed,
        "skipped": 0,
        "failed": list(recorded.failed),
        "names": list(recorded.names),
        "digest": {"sha256": recorded.digest},
    }
    commit_with_receipt(shop, predicate, tree)
    assert reasons(shop) == f"`{CHECK}` (own) fails with the work, and did not before"
