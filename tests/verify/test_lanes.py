"""Receipts of work that lands from lanes: for the commit of each task, and for merges."""

from __future__ import annotations

import json

import pytest
from tests.verify.conftest import Shop

from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task

# Each task adds a module and its test. They wait for each other, so that the second lands as a merge.
AGENT = """\
#!/bin/sh
set -e
cat > /dev/null
name=more$SAMUEL_TASK_ID
echo "def value(): return $SAMUEL_TASK_ID" > $name.py
cat > test_$name.py <<END
import unittest, $name
class More(unittest.TestCase):
    def test_value(self):
        self.assertEqual($name.value(), $SAMUEL_TASK_ID)
END
touch {meeting}-$SAMUEL_TASK_ID
for second in $(seq 600); do
    [ -e {meeting}-1 ] && [ -e {meeting}-2 ] && break
    sleep 0.1
done
samuel run done "$SAMUEL_TASK_ID" > /dev/null
"""


def prepare(shop: Shop, agent: str = AGENT) -> str:
    """Let two agents work at once; the commit that they begin with."""
    (shop.root / "agent.sh").write_text(agent.format(meeting=shop.directory / "met"))
    with (shop.root / "samuel.toml").open("a") as config:
        config.write('\n[lanes]\ncopy = [".venv"]\n')
    shop.git("commit", "-q", "-a", "-m", "an agent for lanes")
    TaskStore(shop.root / ".samuel/run").replace_all([Task(id=id, title=f"Add module {id}") for id in "12"])
    return shop.git("rev-parse", "HEAD")


def test_every_commit_that_lands_from_lanes_has_a_receipt_that_verifies(new_shop: Shop) -> None:
    start = prepare(new_shop)

    ran = new_shop.samuel("run", "start", "--yes", "--parallel", "2")
    assert ran.code == 0, ran

    commits = new_shop.git("rev-list", f"{start}..HEAD").split()
    noted = [line.split()[1] for line in new_shop.git("notes", "--ref=samuel", "list").split("\n")]
    assert sorted(noted) == sorted(commits)
    verified = new_shop.verify(f"{start}..HEAD")
    assert (verified.code, verified.data["answer"]) == (0, "same"), verified
    receipts = verified.data["receipts"]
    assert {receipt["grade"] for receipt in receipts} == {"proven, new names only", ""}
    assert any(receipt["title"].startswith("landing of ") for receipt in receipts)
    printed = json.loads(new_shop.samuel("run", "receipt").out)
    assert sorted(entry["predicate"]["task"]["id"] for entry in printed) == ["1", "2"]
    assert {entry["subject"][0]["digest"]["gitCommit"] for entry in printed} < set(commits)


REMOVED = "git update-ref -d refs/notes/samuel\n"
FORGED = "git notes --ref=samuel add --force -m forged main 2> /dev/null\n"


@pytest.mark.parametrize("harm", [REMOVED, FORGED], ids=["removed", "forged"])
def test_agent_in_a_lane_cannot_take_receipts_away(shop: Shop, harm: str) -> None:
    before = shop.note()
    first = shop.git("rev-parse", "HEAD")
    start = prepare(shop, AGENT.replace("touch", f"{harm}touch"))
    shop.git("notes", "--ref=samuel", "copy", first, start)  # which is no receipt of that commit
    ran = shop.samuel("run", "start", "--yes", "--parallel", "2")
    assert ran.code == 0, ran
    assert shop.note(first) == before
    assert shop.verify(f"{start}..HEAD").data["answer"] == "same"
    if harm == REMOVED:
        assert f"receipts were changed or removed, and are there again: {first[:12]}" in ran.out
