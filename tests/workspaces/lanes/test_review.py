"""Review of work in lanes: it is a part of the attempt, before the work lands."""

from __future__ import annotations

from tests.workspaces.lanes.project import LaneProject

SETTINGS = 'proof = "off"\nreview = { agent = "mine", rounds = 1 }'
VERDICT = """\
if [ "$SAMUEL_MODE" = review ]; then
    nonce=$(sed -n "s/^nonce: //p" "$1")
    finding='{"file": "a", "line": null, "severity": "low", "what": "no", "shows": "a"}'
    if [ "$SAMUEL_TASK_ID" = 3 ]; then
        echo "{\\"nonce\\": \\"$nonce\\", \\"verdict\\": \\"refuse\\", \\"findings\\": [$finding]}"
    else
        echo "{\\"nonce\\": \\"$nonce\\", \\"verdict\\": \\"accept\\", \\"findings\\": []}"
    fi
else
    echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"
fi
"""


def test_lanes_land_what_a_reviewer_accepts_and_keep_the_rest_for_a_person(lanes: LaneProject) -> None:
    lanes.prepare(3, settings=SETTINGS)
    lanes.task("any", VERDICT)
    lanes.start(lanes=2, code=1)
    rows = {id: (row["status"], row["reviewed"]) for id in "123" if (row := lanes.row(id))}
    assert rows == {
        "1": ("completed", "accepted by mine"),
        "2": ("completed", "accepted by mine"),
        "3": ("waiting", ""),
    }
    assert "work-3.txt" not in lanes.git("ls-tree", "-r", "--name-only", "main")
    lanes.samuel("run", "accept", "3", "--yes")
    assert lanes.row("3")["status"] == "completed"
    assert lanes.row("3")["reviewed"].startswith("not by an agent: accepted by ")
