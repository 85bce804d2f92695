"""Receipts of work that sealed checks judged: they run again where they are, and are agreed to."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.verify.conftest import FIXED, Shop
from tests.verify.test_forged import commit_with_receipt, reasons
from tests.verify.test_lanes import prepare
from tests.verify.test_verify import answer, remarks

SEALED = '#!/bin/sh\ntest "$SAMUEL_TASK_ID" = 1 && grep -q max prices.py\n'


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def sealed(new_shop: Shop) -> Shop:
    """A shop whose work a sealed check proves. Its clones are beside it, and name the same program."""
    write(new_shop.directory / "acceptance/run", SEALED)
    config = new_shop.root / "samuel.toml"
    config.write_text(config.read_text().replace("pause", 'sealed_checks = ["../acceptance/run"]\npause'))
    agent = [
        "#!/bin/sh\ncat > /dev/null\ncat > prices.py <<'END'\n",
        FIXED,
        "END\nsamuel run done 1 > /dev/null\n",
    ]
    (new_shop.root / "agent.sh").write_text("".join(agent))
    new_shop.git("commit", "-q", "-a", "-m", "sealed checks")
    return new_shop


def test_sealed_check_runs_again_in_a_clone(sealed: Shop) -> None:
    sealed.run()
    predicate = sealed.note()["predicate"]
    assert predicate["grade"] == "proven"
    assert [corner["corner"] for corner in predicate["corners"]] == ["own", "sealed", "sealed before", "planted"]
    assert [program["name"] for program in predicate["sealed"]] == ["run"]
    assert str(sealed.directory) not in str(predicate), "where it is, is not for an agent to read"
    assert answer(sealed.clone(), "HEAD") == (0, "same", "")
    assert remarks(sealed) == ""


def test_sealed_check_that_says_something_else_is_different(sealed: Shop) -> None:
    sealed.run()
    write(sealed.directory / "acceptance/run", "#!/bin/sh\nexit 3\n")
    code, word, reason = answer(sealed, "HEAD")
    assert (code, word) == (1, "different")
    assert reason == "`run` (sealed): passed in the receipt, and ended with exit code 3 here"
    assert "the program of the sealed check `run` is not the one of the receipt" in remarks(sealed)
    write(sealed.directory / "acceptance/run", "#!/bin/sh\nexit 0\n")
    assert answer(sealed, "HEAD")[2] == "`run` (sealed before): failed in the receipt, and passed here"


def test_flaky_sealed_check_is_repeated_once(sealed: Shop) -> None:
    sealed.run()
    mark = sealed.directory / "acceptance/mark"
    write(sealed.directory / "acceptance/run", f"{SEALED[:10]}rm {mark} 2> /dev/null && exit 1\n{SEALED[10:]}")
    mark.touch()
    assert answer(sealed, "HEAD") == (0, "same", "")
    mark.touch()
    assert "`run` (sealed) is flaky" in remarks(sealed)


def test_sealed_check_that_is_not_here_cannot_be_verified(sealed: Shop) -> None:
    sealed.run()
    (sealed.directory / "acceptance/run").unlink()
    assert answer(sealed, "HEAD") == (
        4,
        "cannot",
        "the sealed check `run` is gone, or not executable any more; its other checks say the same",
    )
    config = sealed.root / "samuel.toml"
    config.write_text(config.read_text().replace('"../acceptance/run"', '"../acceptance/walk"'))
    assert answer(sealed, "HEAD")[2] == (
        "samuel.toml names no sealed check `run` here; its other checks say the same"
    )


def test_what_else_is_different_is_told_though_the_sealed_check_is_not_here(sealed: Shop) -> None:
    sealed.run()
    (sealed.directory / "acceptance/run").unlink()
    sealed.dependency("two", "2.0")
    assert answer(sealed, "HEAD")[:2] == (1, "different")


def test_sealed_check_that_was_not_agreed_to_does_not_run(sealed: Shop) -> None:
    sealed.run()
    clone = sealed.clone()
    check = clone.note()["predicate"]["corners"][0]["runs"][0]["command"]
    mark = sealed.directory / "acceptance/mark"
    write(sealed.directory / "acceptance/run", f"#!/bin/sh\ntouch {mark}\n")
    code, word, reason = answer(clone, "HEAD", "--check", check, SAMUEL_TRUST="")
    assert (code, word) == (4, "cannot")
    assert "sealed-checks:ralph" in reason
    assert not mark.exists()
    write(sealed.directory / "acceptance/run", SEALED)
    assert clone.samuel("trust", "--yes", SAMUEL_TRUST="").code == 0
    assert answer(clone, "HEAD", SAMUEL_TRUST="")[:2] == (0, "same")


def test_made_up_receipt_without_the_sealed_check_of_the_project_is_different(sealed: Shop) -> None:
    sealed.run()
    predicate = sealed.note()["predicate"]
    predicate["corners"] = [each for each in predicate["corners"] if not each["corner"].startswith("sealed")]
    commit_with_receipt(sealed, predicate)
    assert reasons(sealed) == "it has no run of each sealed check of this project"


def test_merge_of_lanes_has_the_sealed_checks_of_each_task(sealed: Shop) -> None:
    write(sealed.directory / "acceptance/run", '#!/bin/sh\ntest -e "more$SAMUEL_TASK_ID.py"\n')
    start = prepare(sealed)
    assert sealed.samuel("run", "start", "--yes", "--parallel", "2").code == 0

    (merge,) = sealed.git("rev-list", "--merges", f"{start}..HEAD").split()
    runs = {each["corner"]: each["runs"] for each in sealed.note(merge)["predicate"]["corners"]}
    landed = [entry["task"] for entry in sealed.note(merge)["predicate"]["landed"]]
    assert [run["task"] for run in runs["sealed"]] == landed
    assert sealed.verify(f"{start}..HEAD").data["answer"] == "same"
    write(sealed.directory / "acceptance/run", "#!/bin/sh\ntest ! -e more1.py || test ! -e more2.py\n")
    assert "`run` (sealed): passed in the receipt" in answer(sealed, merge)[2]
